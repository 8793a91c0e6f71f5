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

function keyOf(secret: string): Buffer {
	return Buffer.from(
		hkdfSync("sha256", secret, "", "assay notification address", 32),
	);
}

/**
 * Encrypts the address of a chat. The result belongs to one channel, so a copy in another row
 * cannot be decrypted.
 */
export function sealAddress(
	address: string,
	channelId: string,
	{ secret }: Secrets,
): string {
	const iv = randomBytes(IV_BYTES);
	const cipher = createCipheriv("aes-256-gcm", keyOf(secret), iv);
	cipher.setAAD(Buffer.from(channelId));
	const sealed = Buffer.concat([
		cipher.update(address, "utf8"),
		cipher.final(),
	]);
	const whole = Buffer.concat([iv, cipher.getAuthTag(), sealed]);
	return `${VERSION}.${whole.toString("base64url")}`;
}

/**
 * Decrypts an address, and says whether it is encrypted with the current secret. Returns undefined
 * if neither secret decrypts it.
 */
export function openAddress(
	sealed: string,
	channelId: string,
	{ secret, previousSecret }: Secrets,
): { address: string; isCurrent: boolean } | undefined {
	const whole = Buffer.from(sealed.slice(VERSION.length + 1), "base64url");
	for (const each of [secret, previousSecret]) {
		if (each === undefined) continue;
		const iv = whole.subarray(0, IV_BYTES);
		const tag = whole.subarray(IV_BYTES, IV_BYTES + TAG_BYTES);
		const decipher = createDecipheriv("aes-256-gcm", keyOf(each), iv);
		decipher.setAAD(Buffer.from(channelId));
		decipher.setAuthTag(tag);
		try {
			const text = decipher.update(whole.subarray(IV_BYTES + TAG_BYTES));
			const address = Buffer.concat([text, decipher.final()]).toString("utf8");
			return { address, isCurrent: each === secret };
		} catch {
			// The former secret may open it.
		}
	}
	return undefined;
}
