import { createHmac } from "node:crypto";

/**
 * Returns the six digits that an authenticator shows for a key or an otpauth address (RFC 6238),
 * now or `stepsAhead` times 30 s later. The service accepts each code once, and also one that is
 * one step early.
 */
export function totp(key: string, stepsAhead = 0): string {
	const secret = URL.canParse(key)
		? (new URL(key).searchParams.get("secret") ?? "")
		: key;
	const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
	const bits = [...secret.replace(/=+$/, "")]
		.map((letter) => alphabet.indexOf(letter).toString(2).padStart(5, "0"))
		.join("");
	const bytes = Buffer.from(
		bits.match(/.{8}/g)?.map((byte) => Number.parseInt(byte, 2)) ?? [],
	);
	const counter = Buffer.alloc(8);
	counter.writeBigUInt64BE(
		BigInt(Math.floor(Date.now() / 30_000) + stepsAhead),
	);
	const mac = createHmac("sha1", bytes).update(counter).digest();
	const at = (mac.at(-1) ?? 0) & 15;
	return String((mac.readUInt32BE(at) & 0x7fffffff) % 1_000_000).padStart(
		6,
		"0",
	);
}
