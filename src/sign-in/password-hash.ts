import { randomBytes, scrypt, timingSafeEqual } from "node:crypto";
import { overloaded } from "../errors.ts";
import { FairShares } from "../load/fair-shares.ts";

/**
 * Cost of scrypt. OWASP's cheat sheet on storing passwords names several settings of equal
 * strength. This one takes 32 MiB.
 */
interface Cost {
	/** N is two to the power of this. */
	log2N: number;
	r: number;
	p: number;
}

export const COST: Readonly<Cost> = Object.freeze({ log2N: 15, r: 8, p: 3 });

/** The cost of new hashes. Tests, which sign in hundreds of times, lower it. No setting does. */
export const cost: Cost = { ...COST };

/** better-auth's, with which hashes without a cost of their own were made. */
const FORMER_COST: Cost = { log2N: 14, r: 16, p: 1 };

const KEY_BYTES = 64;
const SALT_BYTES = 16;

/**
 * Three run at a time, with 32 MiB each. Node's pool has four threads, and files need one too. A
 * call beyond the waiting limit is asked to retry later.
 */
const LIMITS = {
	running: 3,
	waiting: 61,
	maxWaitMs: 10_000,
	name: "passwords to check",
};
const HASHING = new FairShares(LIMITS);

/** Throws service_unavailable when another password would find no place to wait. */
export function refuseFullHashing(): void {
	const reason = HASHING.whyFull("");
	if (reason) throw overloaded(reason);
}

/** "$scrypt$ln=15,r=8,p=3$<salt>$<key>", salt and key in base64 without padding. */
export async function hashPassword(password: string): Promise<string> {
	const salt = randomBytes(SALT_BYTES);
	const { log2N, r, p } = cost;
	const key = await derive(password, salt, { log2N, r, p });
	return `$scrypt$ln=${log2N},r=${r},p=${p}$${base64(salt)}$${base64(key)}`;
}

/**
 * Returns true if the password has this hash, in today's form or better-auth's. Throws for a
 * malformed hash.
 */
export async function isPasswordOf(
	hash: string,
	password: string,
): Promise<boolean> {
	const { salt, key, cost } = readHash(hash);
	return timingSafeEqual(await derive(password, salt, cost), key);
}

/** True for a hash that would be made at another cost today. */
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
	if (!former) throw new Error("a stored password is no hash that we know");
	const [, salt = "", key = ""] = former;
	// The salt's hexadecimal digits themselves are the salt there.
	return {
		salt: Buffer.from(salt),
		key: Buffer.from(key, "hex"),
		cost: FORMER_COST,
	};
}

/** Typed on another keyboard, a letter may be composed of others. */
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
	return bytes.toString("base64").replace(/=+$/, "");
}
