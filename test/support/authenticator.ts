import {
	createHash,
	generateKeyPairSync,
	type KeyObject,
	randomBytes,
	sign,
} from "node:crypto";

/** What a misbehaving authenticator or a browser under attack does differently. */
export interface Deviation {
	origin?: string;
	rpId?: string;
	/** False: neither PIN nor fingerprint was checked. */
	isVerified?: boolean;
	counter?: number;
	challenge?: string;
	type?: string;
	userHandle?: string;
	/** The key that signs. */
	key?: KeyObject;
}

export interface Credential {
	id: string;
	key: KeyObject;
	userHandle: string;
	counter: number;
}

interface MakeOptions {
	challenge: string;
	user: { id: string };
}

const FLAG_PRESENT = 1;
const FLAG_VERIFIED = 4;
const FLAG_ATTESTED = 64;

/** An authenticator in software, which makes and uses ES256 passkeys of one service (WebAuthn). */
export class Authenticator {
	readonly #origin: string;
	readonly #rpId: string;

	constructor(baseUrl: string) {
		const url = new URL(baseUrl);
		this.#origin = url.origin;
		this.#rpId = url.hostname;
	}

	/** Makes a passkey, as `navigator.credentials.create` does. */
	make(
		{ challenge, user }: MakeOptions,
		deviation: Deviation = {},
	): { credential: Credential; response: object } {
		const { privateKey, publicKey } = generateKeyPairSync("ec", {
			namedCurve: "P-256",
		});
		const { x = "", y = "" } = publicKey.export({ format: "jwk" });
		const id = randomBytes(32);
		const coseKey = cbor(
			new Map<number, unknown>([
				[1, 2],
				[3, -7],
				[-1, 1],
				[-2, Buffer.from(x, "base64url")],
				[-3, Buffer.from(y, "base64url")],
			]),
		);
		const length = Buffer.alloc(2);
		length.writeUInt16BE(id.length);
		const authData = Buffer.concat([
			this.#head(FLAG_ATTESTED, 0, deviation),
			Buffer.alloc(16),
			length,
			id,
			coseKey,
		]);
		const attestationObject = cbor(
			new Map<string, unknown>([
				["fmt", "none"],
				["attStmt", new Map()],
				["authData", authData],
			]),
		);
		const text = id.toString("base64url");
		return {
			credential: {
				id: text,
				key: privateKey,
				userHandle: user.id,
				counter: 0,
			},
			response: {
				id: text,
				rawId: text,
				type: "public-key",
				response: {
					clientDataJSON: this.#clientData(
						"webauthn.create",
						challenge,
						deviation,
					).toString("base64url"),
					attestationObject: attestationObject.toString("base64url"),
					transports: ["internal"],
				},
				clientExtensionResults: { credProps: { rk: true } },
			},
		};
	}

	/** Signs a challenge with a passkey, as `navigator.credentials.get` does. */
	use(
		{ challenge }: { challenge: string },
		credential: Credential,
		deviation: Deviation = {},
	): object {
		const counter = deviation.counter ?? ++credential.counter;
		const authData = this.#head(0, counter, deviation);
		const clientData = this.#clientData("webauthn.get", challenge, deviation);
		const hash = createHash("sha256").update(clientData).digest();
		const signature = sign(
			"sha256",
			Buffer.concat([authData, hash]),
			deviation.key ?? credential.key,
		);
		return {
			id: credential.id,
			rawId: credential.id,
			type: "public-key",
			response: {
				clientDataJSON: clientData.toString("base64url"),
				authenticatorData: authData.toString("base64url"),
				signature: signature.toString("base64url"),
				userHandle: deviation.userHandle ?? credential.userHandle,
			},
			clientExtensionResults: {},
		};
	}

	#head(flags: number, counter: number, deviation: Deviation): Buffer {
		const { rpId = this.#rpId, isVerified = true } = deviation;
		const count = Buffer.alloc(4);
		count.writeUInt32BE(counter);
		return Buffer.concat([
			createHash("sha256").update(rpId).digest(),
			Buffer.from([flags | FLAG_PRESENT | (isVerified ? FLAG_VERIFIED : 0)]),
			count,
		]);
	}

	#clientData(type: string, challenge: string, deviation: Deviation): Buffer {
		return Buffer.from(
			JSON.stringify({
				type: deviation.type ?? type,
				challenge: deviation.challenge ?? challenge,
				origin: deviation.origin ?? this.#origin,
				crossOrigin: false,
			}),
		);
	}
}

/** Encodes integers, texts, bytes and maps (RFC 8949). */
function cbor(value: unknown): Buffer {
	if (typeof value === "number") {
		return value >= 0 ? head(0, value) : head(1, -1 - value);
	}
	if (typeof value === "string") {
		const bytes = Buffer.from(value);
		return Buffer.concat([head(3, bytes.length), bytes]);
	}
	if (Buffer.isBuffer(value)) {
		return Buffer.concat([head(2, value.length), value]);
	}
	if (value instanceof Map) {
		return Buffer.concat([
			head(5, value.size),
			...[...value].flatMap(([key, item]) => [cbor(key), cbor(item)]),
		]);
	}
	throw new Error(`cannot encode ${String(value)}`);
}

function head(major: number, length: number): Buffer {
	const type = major << 5;
	if (length < 24) return Buffer.from([type | length]);
	if (length < 256) return Buffer.from([type | 24, length]);
	return Buffer.from([type | 25, length >> 8, length & 255]);
}
