import { MAX_PAGE_SIZE } from "../../../../../src/records/page-sizes.ts";
import { call, type OutputOf } from "../../../api.ts";
import { dayOf, formatDay } from "../../../parts/days.ts";
import { formatTime } from "../../../parts/time-formats.ts";
import type { Version } from "./statuses.ts";

export type Signature =
	OutputOf<"listDocumentVersionSignatures">["document_version_signatures"][number];

/** Headings of the columns of `signedBy`. */
export const SIGNED_BY = ["Person", "Signed", "How"];

/** Returns how many people have signed a version, in words. */
export function signedCount({
	signatures_given: given,
	signatures_requested: missing,
	signatures_ended: ended,
}: Version): string {
	const all = given + missing;
	if (all + ended === 0) return "Nobody is asked to sign this version.";
	const signed =
		all === 0
			? "Nobody signed"
			: `${given.toLocaleString()} of ${all.toLocaleString()} signed`;
	return ended === 0
		? signed
		: `${signed}, and ${ended.toLocaleString()} no longer ${ended === 1 ? "needs" : "need"} to`;
}

/** Returns who signed a version, when and how, as the rows of a table, for an export. */
export async function signedBy(version: Version): Promise<string[][]> {
	if (version.signatures_given === 0) return [];
	const rows: string[][] = [];
	let cursor: string | null = null;
	do {
		const page: OutputOf<"listDocumentVersionSignatures"> = await call(
			"listDocumentVersionSignatures",
			{
				document_version_id: version.id,
				state: "SIGNED",
				size: MAX_PAGE_SIZE,
				cursor,
			},
		);
		for (const one of page.document_version_signatures) {
			const time = one.signed_at ? formatTime(one.signed_at, "zone") : "";
			rows.push([one.signer_name, time, signedWay(one)]);
		}
		cursor = page.next_cursor;
	} while (cursor !== null);
	return rows;
}

/** Says in which way somebody has signed. */
export function signedWay(signature: Signature): string {
	const { way, link_copied_by_name, signer_name, user_name } = signature;
	if (way === "COPIED_LINK") {
		return `By a link that ${link_copied_by_name} copied`;
	}
	if (way === "LINK") {
		const { mailed_to, address_set_by_name, address_set_at } = signature;
		if (!mailed_to) return "By a link";
		const mailed = `By a link mailed to ${mailed_to}`;
		return address_set_at
			? `${mailed}, an address that ${address_set_by_name} set on ${formatDay(dayOf(new Date(address_set_at)))}`
			: mailed;
	}
	return user_name === null || user_name === signer_name
		? "Signed in"
		: `Signed in as ${user_name}`;
}
