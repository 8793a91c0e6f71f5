import {
	createPrivateKey,
	createPublicKey,
	type KeyObject,
	sign,
	verify,
} from "node:crypto";
import { RELEASE } from "../../src/agent-packages/release.ts";
import { AgentError } from "../agent-error.ts";
import { parseObject } from "../files.ts";

/** The file beside the packages that says which program agents may update to. */
export const MANIFEST_NAME = "agent-update.json";

/** A release that agents may update themselves to. Times are in RFC 3339 format. */
export interface Manifest {
	version: string;
	/** After this time no agent uses the manifest, so an old one cannot be offered for ever. */
	expires_at: string;
	/** The archives by platform, such as `linux-x64`. */
	files: Record<string, ManifestFile>;
}

export interface ManifestFile {
	file: string;
	bytes: number;
	/** SHA-256 in hexadecimal. */
	sha256: string;
}

/** Precedes the manifest in what is signed, so that no other signature of the key counts here. */
const CONTEXT = "assay-agent-update-1\n";

const MAX_BYTES = 64 * 1024;
const FILE = /^[A-Za-z0-9][A-Za-z0-9._-]{0,199}$/;
const MAX_PROGRAM_BYTES = 500_000_000;

/** Returns the text of the signed manifest. `privateKey` is an Ed25519 key in PEM format. */
export function signManifest(manifest: Manifest, privateKey: string): string {
	const key = createPrivateKey(privateKey);
	requireEd25519(key);
	const text = JSON.stringify(manifest);
	const signature = sign(null, Buffer.from(CONTEXT + text), key);
	return `${JSON.stringify({ manifest: text, signature: signature.toString("base64") })}\n`;
}

/**
 * Returns the manifest if the pinned key has signed it and it has not expired. Throws an AgentError
 * that says what is wrong otherwise.
 */
export function readManifest(
	text: string,
	publicKey: string,
	nowMs: number,
): Manifest {
	const { manifest, signature } = parseObject(text.slice(0, MAX_BYTES)) ?? {};
	if (typeof manifest !== "string" || typeof signature !== "string") {
		throw new AgentError("the manifest of updates is not one of Assay");
	}
	const isSigned = verify(
		null,
		Buffer.from(CONTEXT + manifest),
		readUpdateKey(publicKey),
		Buffer.from(signature, "base64"),
	);
	if (!isSigned) {
		throw new AgentError(
			"the manifest of updates is not signed with the key that this agent was installed with",
		);
	}
	const { version, expires_at, files } = parseObject(manifest) ?? {};
	if (
		typeof version !== "string" ||
		!RELEASE.test(version) ||
		typeof expires_at !== "string" ||
		typeof files !== "object" ||
		files === null
	) {
		throw new AgentError("the manifest of updates is incomplete");
	}
	// An invalid time counts as expired.
	if (!(Date.parse(expires_at) > nowMs)) {
		throw new AgentError(
			`the manifest of updates has expired (${expires_at}); sign a new one`,
		);
	}
	return { version, expires_at, files: files as Manifest["files"] };
}

/** Returns the archive for a platform. Throws if the manifest has none. */
export function fileFor({ files }: Manifest, platform: string): ManifestFile {
	const { file, bytes, sha256 } = Object.hasOwn(files, platform)
		? (files[platform] as ManifestFile)
		: ({} as Partial<ManifestFile>);
	if (
		typeof file !== "string" ||
		!FILE.test(file) ||
		!Number.isSafeInteger(bytes) ||
		(bytes as number) > MAX_PROGRAM_BYTES ||
		typeof sha256 !== "string" ||
		!/^[0-9a-f]{64}$/.test(sha256)
	) {
		throw new AgentError(
			`the manifest of updates has no archive for ${platform}`,
		);
	}
	return { file, bytes: bytes as number, sha256 };
}

/** Parses the public key. Throws an AgentError if it is none. */
export function readUpdateKey(pem: string): KeyObject {
	let key: KeyObject | undefined;
	try {
		// A private key would also do, and then lie on every device.
		if (!pem.includes("PRIVATE KEY")) key = createPublicKey(pem);
	} catch {
		// The error below says what is needed.
	}
	if (!key) {
		throw new AgentError(
			"the key of updates must be a public Ed25519 key in a PEM file; openssl pkey -pubout makes it from the private one",
		);
	}
	requireEd25519(key);
	return key;
}

function requireEd25519({ asymmetricKeyType }: KeyObject): void {
	if (asymmetricKeyType !== "ed25519") {
		throw new AgentError(
			`the key of updates must be an Ed25519 key, not ${asymmetricKeyType}`,
		);
	}
}
