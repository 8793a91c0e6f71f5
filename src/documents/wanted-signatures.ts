import type { PoolClient } from "pg";
import { AppError } from "../errors.ts";
import type { Context } from "../operation.ts";
import { IS_MEMBER } from "../organizations/person-of-member.ts";
import { IS_STAFF } from "../organizations/staff.ts";
import type { Version } from "./versions.ts";

/** SQL condition: the person `p` still belongs to the organization $1, and can be asked to sign. */
export const IS_HERE = `(${IS_STAFF} or ${IS_MEMBER})`;

const isSuperseded = (v: string) => `exists (
	select from document_versions newer
	where newer.organization_id = ${v}.organization_id and newer.document_id = ${v}.document_id
		and newer.status = 'PUBLISHED' and newer.version_number > ${v}.version_number
)`;

const isArchived = (v: string) => `exists (
	select from documents d
	where d.organization_id = ${v}.organization_id and d.id = ${v}.document_id and d.archived_at is not null
)`;

const hasLeft = (s: string) => `exists (
	select from people p
	where p.organization_id = ${s}.organization_id and p.id = ${s}.person_id and not ${IS_HERE}
)`;

/** SQL condition: no newer version replaces the published version `v`, and its document is in use. */
export const isInForce = (v: string) =>
	`not ${isSuperseded(v)} and not ${isArchived(v)}`;

/**
 * SQL condition: the request to sign `s` for the version `v` of the organization $1 is still of use.
 * The version is in force, and the person has not left. The other requests stay for the past, and
 * nobody is reminded of them.
 */
export const isWanted = (s: string, v: string) =>
	`${isInForce(v)} and not ${hasLeft(s)}`;

export const ENDS = ["SUPERSEDED", "ARCHIVED", "LEFT"] as const;

/** SQL for why the request to sign `s` for the version `v` is no longer of use, or null. */
export const whyEnded = (s: string, v: string) => `case
	when ${s}.state <> 'REQUESTED' then null
	when ${isSuperseded(v)} then 'SUPERSEDED'
	when ${isArchived(v)} then 'ARCHIVED'
	when ${hasLeft(s)} then 'LEFT'
end`;

/** SQL for the number of the version that is in force in place of the version `v`, or null. */
const NEWER = `(
	select max(n.version_number) from document_versions n
	where n.organization_id = v.organization_id and n.document_id = v.document_id
		and n.status = 'PUBLISHED' and n.version_number > v.version_number
)`;

/** Throws a conflict if a published version is no longer in force, or its document is archived. */
export async function requireInForce(
	{ client, membership }: Context,
	{ id }: Pick<Version, "id">,
): Promise<void> {
	const { organizationId } = membership;
	const message = await readWhyNotSigned(client, organizationId, id);
	if (message) throw new AppError("conflict", message);
}

/** Returns why nobody signs a published version any more, or undefined. */
export async function readWhyNotSigned(
	client: PoolClient,
	organizationId: string,
	versionId: string,
): Promise<string | undefined> {
	const { rows } = await client.query<{
		number: number;
		newer: number | null;
		is_archived: boolean;
	}>(
		`select v.version_number as number, ${NEWER} as newer, ${isArchived("v")} as is_archived
		from document_versions v where v.organization_id = $1 and v.id = $2`,
		[organizationId, versionId],
	);
	const [found] = rows;
	if (found?.newer) {
		return `version ${found.newer} of the document is in force, so nobody signs version ${found.number} any more`;
	}
	return found?.is_archived
		? "the document is archived, so nobody signs it any more"
		: undefined;
}
