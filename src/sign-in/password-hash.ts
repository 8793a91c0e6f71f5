import { randomBytes, scrypt, timingSafeEqual } from "node:crypto";
import { overloaded } from "../errors.ts";
import { FairShares } from "../load/fair-shares.ts";

/**
 * Cost of scrypt. OWASP's cheat sheet on storing passwords names several settings of equal
 * strength. The setting in COST takes 32 MiB.
 */
interface Cost {
	/** Exponent of N: N is two to the power of this. */
	log2N: number;
	r: number;
	p: number;
}

export const COST: Readonly<Cost> = Object.freeze({ log2N: 15, r: 8, p: 3 });

/**
 * The cost of new hashes. Tests sign in hundreds of times, so they lower it. No setting of the
 * service does.
 */
export const cost: Cost = { ...COST };

/** The cost that better-auth used. Hashes that do not name their cost were made with it. */
const FORMER_COST: Cost = { log2N: 14, r: 16, p: 1 };

const KEY_BYTES = 64;
const SALT_BYTES = 16;

/**
 * Three hashes run at a time and take 32 MiB each. The pool of Node has four threads, and files
 * need one too. A call that finds no place to wait is asked to retry later.
 */
const LIMITS = {
	running: 3,
	waiting: 61,
	maxWaitMs: 10_000,
	name: "passwords to check",
};
const HASHING = new FairShares(LIMITS);

/** Throws service_unavailable if another password would find no place to wait. */
export function refuseFullHashing(): void {
	const reason = HASHING.whyFull("");
	if (reason) throw overloaded(reason);
}

/** Returns "$scrypt$ln=15,r=8,p=3$<salt>$<key>", with salt and key in base64 without padding. */
export async function hashPassword(password: string): Promise<string> {
	const salt = randomBytes(SALT_BYTES);
	const { log2N, r, p } = cost;
	const key = await derive(password, salt, { log2N, r, p });
	return `$scrypt$ln=${log2N},r=${r},p=${p}$${base64(salt)}$${base64(key)}`;
}

/**
 * Returns true if the password has this hash, in our form or in better-auth's. Throws if the hash
 * is malformed.
 */
export async function isPasswordOf(
	hash: string,
	password: string,
): Promise<boolean> {
	const { salt, key, cost } = readHash(hash);
	return timingSafeEqual(await derive(password, salt, cost), key);
}

/** Returns true for a hash that was made at another cost than new hashes are. */
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
	if (!former) throw new Error("a stored password hash has an unknown form");
	const [, salt = "", key = ""] = former;
	// better-auth uses the hexadecimal digits themselves as the salt.
	return {
		salt: Buffer.from(salt),
		key: Buffer.from(key, "hex"),
		cost: FORMER_COST,
	};
}

/**
 * Returns the password in the form in which it is hashed. Another keyboard may compose the same
 * letter of several characters.
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
	return bytes.toString("base64").replace(/=+$/, "");
}
