import type { PoolClient } from "pg";
import type { PackageScope, Subject } from "./scope.ts";

/**
 * SQL for the versions `v` of documents that were in force in the period from $2 to before $3: they
 * were published before it ended, and before it began no later version replaced them and nobody
 * archived the document.
 */
export const VERSIONS = `document_versions v
	where v.organization_id = $1 and v.status = 'PUBLISHED' and v.published_at < $3
		and not exists (
			select from document_versions n
			where n.organization_id = v.organization_id and n.document_id = v.document_id
				and n.status = 'PUBLISHED' and n.version_number > v.version_number
				and n.published_at <= $2
		)
		and exists (
			select from documents d
			where d.organization_id = v.organization_id and d.id = v.document_id
				and (d.archived_at is null or d.archived_at >= $2)
		)`;

/**
 * SQL for the files `f` of evidence `e`, with their contents `c`, that counted in the period that
 * begins at $2, on the day $3. Evidence that was added after the period is among them, because
 * people often collect it later.
 */
export const EVIDENCE_FILES = `evidence e
	join evidence_files f on f.organization_id = e.organization_id and f.evidence_id = e.id
	join file_contents c on c.organization_id = f.organization_id and c.sha256 = f.sha256
	where e.organization_id = $1 and (e.archived_at is null or e.archived_at >= $2)
		and (e.valid_until is null or e.valid_until >= $3::date)`;

/** Returns how many documents and files of evidence a package would have. */
export async function countFiles(
	client: PoolClient,
	{ organizationId, from, withFiles }: PackageScope,
	{ begin, end }: Subject,
): Promise<number> {
	const count = async (selected: string, values: unknown[]) => {
		const { rows } = await client.query<{ count: number }>(
			`select count(*)::int as count from ${selected}`,
			values,
		);
		return rows[0]?.count ?? 0;
	};
	const versions = await count(VERSIONS, [organizationId, begin, end]);
	return withFiles
		? versions + (await count(EVIDENCE_FILES, [organizationId, begin, from]))
		: versions;
}

/** Returns a text as a part of a file's name that every system accepts. */
export function safeName(text: string): string {
	const plain = text
		.normalize("NFC")
		.replace(UNSAFE, "_")
		.replace(/^[. ]+/, "");
	let name = "";
	for (const character of [...plain].slice(0, MAX_NAME)) {
		if (Buffer.byteLength(name + character) > MAX_NAME_BYTES) break;
		name += character;
	}
	while (/[. ]$/.test(name)) name = name.slice(0, -1);
	return name || "_";
}

/** A path with an id and this many characters fits into what Windows permits. */
const MAX_NAME = 80;
/** A file's name with an id and this many bytes fits into the 255 that Linux permits. */
const MAX_NAME_BYTES = 180;
const UNSAFE =
	/[/\\:*?"<>|\p{Cc}\p{Cs}\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;

export const versionPath = (id: string, title: string, number: number) =>
	`documents/${safeName(title)} v${number} ${id}.md`;

/** The end of the name stays whole, because systems choose the program by it. */
export function evidencePath(id: string, fileName: string): string {
	const [, stem = fileName, end = ""] =
		/^(.+)(\.\w{1,10})$/su.exec(fileName) ?? [];
	return `evidence/${id} ${safeName(stem)}${end}`;
}
