import {
	createCipheriv,
	createDecipheriv,
	hkdfSync,
	randomBytes,
} from "node:crypto";

/** The secret of the service, and the former one while it is being replaced. */
export interface Secrets {
	secret: string;
	previousSecret?: string | undefined;
}

const VERSION = "v1";
const IV_BYTES = 12;
const TAG_BYTES = 16;

/** The kind of a text. Each kind has a key of its own. */
export type Purpose = "notification address" | "client secret";

function keyOf(secret: string, purpose: Purpose): Buffer {
	return Buffer.from(hkdfSync("sha256", secret, "", `assay ${purpose}`, 32));
}

/**
 * Encrypts a text for the database. The result belongs to the row with this id, so a copy in another
 * row cannot be decrypted.
 */
export function sealText(
	text: string,
	purpose: Purpose,
	rowId: string,
	{ secret }: Secrets,
): string {
	const iv = randomBytes(IV_BYTES);
	const cipher = createCipheriv("aes-256-gcm", keyOf(secret, purpose), iv);
	cipher.setAAD(Buffer.from(rowId));
	const sealed = Buffer.concat([cipher.update(text, "utf8"), cipher.final()]);
	const whole = Buffer.concat([iv, cipher.getAuthTag(), sealed]);
	return `${VERSION}.${whole.toString("base64url")}`;
}

/**
 * Decrypts a text, and says whether it is encrypted with the current secret. Returns undefined if
 * neither secret decrypts it.
 */
export function openText(
	sealed: string,
	purpose: Purpose,
	rowId: string,
	{ secret, previousSecret }: Secrets,
): { text: string; isCurrent: boolean } | undefined {
	const whole = Buffer.from(sealed.slice(VERSION.length + 1), "base64url");
	for (const each of [secret, previousSecret]) {
		if (each === undefined) continue;
		const iv = whole.subarray(0, IV_BYTES);
		const tag = whole.subarray(IV_BYTES, IV_BYTES + TAG_BYTES);
		const decipher = createDecipheriv("aes-256-gcm", keyOf(each, purpose), iv);
		decipher.setAAD(Buffer.from(rowId));
		decipher.setAuthTag(tag);
		try {
			const begun = decipher.update(whole.subarray(IV_BYTES + TAG_BYTES));
			const text = Buffer.concat([begun, decipher.final()]).toString("utf8");
			return { text, isCurrent: each === secret };
		} catch {
			// The former secret may decrypt it.
		}
	}
	return undefined;
}
