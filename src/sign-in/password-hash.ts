import { randomBytes, scrypt, timingSafeEqual } from "node:crypto";
import { overloaded } from "../errors.ts";
import { FairShares } from "../load/fair-shares.ts";

/**
 * Cost of scrypt. OWASP's cheat sheet on storing passwords names several combinations of equal
 * strength. We use one of them, COST, which takes 32 MiB.
 */
interface Cost {
	/** Exponent of scrypt's N. N is two to the power of this number. */
	log2N: number;
	r: number;
	p: number;
}

export const COST: Readonly<Cost> = Object.freeze({ log2N: 15, r: 8, p: 3 });

/**
 * Cost of new hashes. Tests sign in hundreds of times, so they lower this value. No setting of the
 * service changes it.
 */
export const cost: Cost = { ...COST };

/**
 * Cost that better-auth used for its own hashes. A hash that does not name its cost was made with
 * this one.
 */
const FORMER_COST: Cost = { log2N: 14, r: 16, p: 1 };

const KEY_BYTES = 64;
const SALT_BYTES = 16;

/**
 * Limits of hashing. At most three hashes are computed at a time, and each takes 32 MiB. Node's
 * thread pool has four threads, and reading files needs one of them. When the queue is full, the
 * caller is asked to retry later.
 */
const LIMITS = {
	running: 3,
	waiting: 61,
	maxWaitMs: 10_000,
	name: "passwords to check",
};
const HASHING = new FairShares(LIMITS);

/** Throws service_unavailable when the queue has no place for another password. */
export function rejectFullHashing(): void {
	const reason = HASHING.whyFull("");
	if (reason) throw overloaded(reason);
}

/**
 * Returns a hash as "$scrypt$ln=15,r=8,p=3$<salt>$<key>". The salt and the key are base64 without
 * padding.
 */
export async function hashPassword(password: string): Promise<string> {
	const salt = randomBytes(SALT_BYTES);
	const { log2N, r, p } = cost;
	const key = await derive(password, salt, { log2N, r, p });
	return `$scrypt$ln=${log2N},r=${r},p=${p}$${base64(salt)}$${base64(key)}`;
}

/**
 * Returns true if `hash` is a hash of the password, in our form or in better-auth's. Throws if the
 * hash is malformed.
 */
export async function isPasswordOf(
	hash: string,
	password: string,
): Promise<boolean> {
	const { salt, key, cost } = readHash(hash);
	return timingSafeEqual(await derive(password, salt, cost), key);
}

/** Returns true if the hash was made with a different cost than new hashes. */
export function isOutdated(hash: string): boolean {
	const { log2N, r, p } = readHash(hash).cost;
	return log2N !== cost.log2N || r !== cost.r || p !== cost.p;
}

function readHash(hash: string) {
	const own =
		/^\$scrypt\$ln=(\d{1,2}),r=(\d{1,2}),p=(\d{1,2})\$([\w+/]{22})\$([\w+/]{86})$/.exec(
			hash,
		);
	if (own) {
		const [, log2N, r, p, salt = "", key = ""] = own;
		return {
			salt: Buffer.from(salt, "base64"),
			key: Buffer.from(key, "base64"),
			cost: { log2N: Number(log2N), r: Number(r), p: Number(p) },
		};
	}
	const former = /^([0-9a-f]{32}):([0-9a-f]{128})$/.exec(hash);
	if (!former) throw new Error("a stored password hash has an unknown format");
	const [, salt = "", key = ""] = former;
	// better-auth uses the hexadecimal digits themselves as the salt.
	return {
		salt: Buffer.from(salt),
		key: Buffer.from(key, "hex"),
		cost: FORMER_COST,
	};
}

/**
 * Returns the password in the normal form in which it is hashed. Some keyboards produce a letter as
 * several characters that others produce as one.
 */
export function asHashed(password: string): string {
	return password.normalize("NFKC");
}

function derive(password: string, salt: Buffer, cost: Cost): Promise<Buffer> {
	const { log2N, r, p } = cost;
	const N = 2 ** log2N;
	const options = { N, r, p, maxmem: 256 * N * r };
	return HASHING.run(
		"",
		() =>
			new Promise<Buffer>((resolve, reject) => {
				scrypt(asHashed(password), salt, KEY_BYTES, options, (error, key) =>
					error ? reject(error) : resolve(key),
				);
			}),
	);
}

function base64(bytes: Buffer): string {
	return bytes.toString("base64").replace(/={1,2}$/, "");
}
