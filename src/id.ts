import { randomBytes, randomFillSync } from "node:crypto";

/**
 * Kinds of typed ids. An id has 24 bytes and is written as 32 characters of base64url.
 *
 *     0        8      10                18            24
 *     | tenant | kind | Unix ms (BE u64) | random     |
 *
 * The tenant identifies the organization, whose own id contains it too. The interface contract
 * fixes the numbers of the kinds that existing agents rely on. The other numbers are our own.
 */
export const ID_KINDS = {
	organization: 0,
	framework: 1,
	measure: 2,
	task: 3,
	vendor: 7,
	document: 10,
	control: 14,
	risk: 15,
	asset: 18,
	datum: 19,
	audit: 20,
	obligation: 29,
	device: 107,
	device_posture: 108,
	enrollment_token: 109,
	device_posture_report: 110,
	// The numbers from here on are not part of the contract.
	people: 200,
	nonconformity: 201,
	continual_improvement: 202,
	user: 210,
	api_token: 211,
	invitation: 212,
	mail: 213,
	enrollment_key: 214,
	device_group: 215,
	webhook: 216,
	webhook_delivery: 217,
	my_devices_link: 225,
	device_exception: 218,
	device_group_policy: 219,
	notification_channel: 226,
	notification_message: 227,
	import: 240,
	saved_view: 241,
	record_comment: 245,
	evidence: 250,
	vendor_review: 251,
	snapshot: 252,
	applicability_statement: 256,
	domain: 270,
	scim_credential: 271,
	scim_group: 272,
	document_version: 253,
	document_signature: 254,
	document_approval: 255,
	identity_provider: 260,
} as const;

export type IdKind = keyof typeof ID_KINDS;

const KIND_NAMES = new Map<number, IdKind>(
	Object.entries(ID_KINDS).map(([name, number]) => [number, name as IdKind]),
);

/** Returns the noun for a record of this kind, such as "person" or "enrollment token". */
export function kindNoun(kind: IdKind): string {
	return kind === "people" ? "person" : kind.replaceAll("_", " ");
}

/** Number of characters of an id. */
export const ID_LENGTH = 32;

/** Matches a text that is written like an id. */
export const ID_PATTERN = new RegExp(`^[\\w-]{${ID_LENGTH}}$`);

/**
 * Number of characters at the beginning of an id that contain the tenant. 11 characters have 66
 * bits: the 64 bits of the tenant and the two highest bits of the kind. These two bits are zero for
 * every kind below 16384. Therefore two ids have the same tenant if and only if their first 11
 * characters are equal. SQL statements use this too.
 */
export const TENANT_PREFIX_LENGTH = 11;

/**
 * First characters of ids that are made before the tenant is known. No organization has this
 * tenant.
 */
export const NO_TENANT_PREFIX = "A".repeat(TENANT_PREFIX_LENGTH);

export interface ParsedId {
	/** The 8 bytes of the tenant, written as 16 hexadecimal digits. */
	tenant: string;
	kind: IdKind;
	/** Time at which the id was made, in Unix milliseconds. The id contains this time. */
	madeAtMs: number;
	prefix: string;
}

const entropy = Buffer.alloc(6 * 1024);
let entropyUsed = entropy.length;

function writeId(tenant: Buffer | undefined, kind: IdKind): string {
	if (entropyUsed === entropy.length) {
		randomFillSync(entropy);
		entropyUsed = 0;
	}
	const bytes = Buffer.alloc(24);
	if (tenant) tenant.copy(bytes, 0, 0, 8);
	bytes.writeUInt16BE(ID_KINDS[kind], 8);
	bytes.writeBigUInt64BE(BigInt(Date.now()), 10);
	entropy.copy(bytes, 18, entropyUsed, entropyUsed + 6);
	entropyUsed += 6;
	return bytes.toString("base64url");
}

/**
 * Returns a new organization id with a random tenant. The tenant is never zero. The id, and so every
 * id in the organization, does not begin with a hyphen: a command would take it for an option.
 */
export function makeOrganizationId(): string {
	const tenant = randomBytes(8);
	const id = writeId(tenant, "organization");
	const isUsable = !tenant.equals(Buffer.alloc(8)) && !id.startsWith("-");
	return isUsable ? id : makeOrganizationId();
}

/** Returns a new id with the tenant of `organizationId`, which must be a valid id. */
export function makeId(organizationId: string, kind: IdKind): string {
	return writeId(Buffer.from(organizationId, "base64url"), kind);
}

/**
 * Returns a new id with a zero tenant. The database fills in the tenant later (see
 * NO_TENANT_PREFIX).
 */
export function makeIdWithoutTenant(kind: IdKind): string {
	return writeId(undefined, kind);
}

/**
 * Returns the parts of the id in `text`. Returns undefined if `text` is not an id: its length or a
 * character is wrong, or its kind is unknown.
 */
export function parseId(text: string): ParsedId | undefined {
	if (!ID_PATTERN.test(text)) return undefined;
	const bytes = Buffer.from(text, "base64url");
	const kind = KIND_NAMES.get(bytes.readUInt16BE(8));
	if (kind === undefined) return undefined;
	return {
		tenant: bytes.toString("hex", 0, 8),
		kind,
		madeAtMs: Number(bytes.readBigUInt64BE(10)),
		prefix: text.slice(0, TENANT_PREFIX_LENGTH),
	};
}
