import { generateKeyPairSync, sign } from "node:crypto";

export interface TestKey {
	/** In PEM. */
	privateKey: string;
	/** A certificate for the key, signed by itself, in PEM. */
	certificate: string;
}

/** Makes an RSA key with a certificate, as an identity provider has one. */
export function makeKey({ bits = 2048, days = 365 } = {}): TestKey {
	const { privateKey, publicKey } = generateKeyPairSync("rsa", {
		modulusLength: bits,
	});
	const name = sequence(set(sequence(oid("550403"), tagged(0x0c, "Test"))));
	const algorithm = sequence(oid("2a864886f70d01010b"), tagged(0x05, ""));
	const time = (at: number) =>
		tagged(
			0x18,
			`${new Date(at).toISOString().replace(/[-:T]/g, "").slice(0, 14)}Z`,
		);
	const now = Date.now();
	const body = sequence(
		tagged(0x02, Buffer.from([1])),
		algorithm,
		name,
		sequence(time(now - 86_400_000), time(now + days * 86_400_000)),
		name,
		publicKey.export({ type: "spki", format: "der" }),
	);
	const signature = sign("sha256", body, privateKey);
	const der = sequence(
		body,
		algorithm,
		tagged(0x03, Buffer.concat([Buffer.from([0]), signature])),
	);
	const lines = der.toString("base64").match(/.{1,64}/g) ?? [];
	return {
		privateKey: privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
		certificate: `-----BEGIN CERTIFICATE-----\n${lines.join("\n")}\n-----END CERTIFICATE-----\n`,
	};
}

/** Writes a value in DER: its tag, its length and its bytes. */
function tagged(tag: number, content: Buffer | string): Buffer {
	const bytes = Buffer.from(content as string);
	const { length } = bytes;
	const size =
		length < 128
			? [length]
			: length < 256
				? [0x81, length]
				: [0x82, length >> 8, length & 255];
	return Buffer.concat([Buffer.from([tag, ...size]), bytes]);
}

const sequence = (...parts: Buffer[]) => tagged(0x30, Buffer.concat(parts));
const set = (...parts: Buffer[]) => tagged(0x31, Buffer.concat(parts));
const oid = (hex: string) => tagged(0x06, Buffer.from(hex, "hex"));
