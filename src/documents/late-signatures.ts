import { isWanted } from "./wanted-signatures.ts";

/** Days after which a signature that somebody was asked for counts as missing. */
export const SIGN_WITHIN_DAYS = 7;

/**
 * SQL condition: the request to sign `s` for the version `v` still counts and was made too long
 * ago.
 */
export const IS_LATE = `s.state = 'REQUESTED' and s.requested_at < now() - interval '${SIGN_WITHIN_DAYS} days'
	and ${isWanted("s", "v")}`;

/** SQL condition: a published version of the document `t` lacks a signature. */
export const LACKS_SIGNATURES = `exists (
	select from document_versions v
	join document_signatures s on s.organization_id = v.organization_id and s.version_id = v.id
	where v.organization_id = t.organization_id and v.document_id = t.id and v.status = 'PUBLISHED'
		and ${IS_LATE}
)`;
