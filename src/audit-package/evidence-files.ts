import { EVIDENCE_FILES, evidencePath } from "./chosen-files.ts";
import {
	csvFile,
	type PackageFile,
	readQuery,
	type Source,
} from "./package-file.ts";

interface EvidenceFile {
	evidence_id: string;
	file_name: string;
	sha256: string;
	has_content: boolean;
}

const inPeriodOfDays = ({ scope, subject }: Source) => [
	scope.organizationId,
	subject.begin,
	scope.from,
];

const readEvidenceFiles = (source: Source) =>
	readQuery<EvidenceFile>(
		source,
		`select f.evidence_id, e.name, f.file_name, f.content_type, c.size_bytes,
			encode(f.sha256, 'hex') as sha256, f.uploaded_by_name, f.created_at as uploaded_at, exists (
				select from file_chunks k
				where k.organization_id = f.organization_id and k.sha256 = f.sha256 and k.place = 0
			) as has_content
		from ${EVIDENCE_FILES} order by f.evidence_id`,
		inPeriodOfDays(source),
	);

/** Yields the content of each file of evidence. */
export async function* readEvidence(
	source: Source,
): AsyncGenerator<PackageFile> {
	if (!source.scope.withFiles) return;
	for await (const page of readEvidenceFiles(source)) {
		for (const { evidence_id: id, file_name, sha256, has_content } of page) {
			if (!has_content) continue;
			yield {
				path: evidencePath(id, file_name),
				content: readChunks(source, sha256),
			};
		}
	}
}

async function* readChunks(
	{ context: { client }, scope }: Source,
	sha256: string,
): AsyncGenerator<Buffer> {
	for (let place = 0; ; place++) {
		const { rows } = await client.query<{ bytes: Buffer }>({
			name: "read.chunk",
			text: `select bytes from file_chunks
				where organization_id = $1 and sha256 = decode($2, 'hex') and place = $3`,
			values: [scope.organizationId, sha256, place],
		});
		if (!rows[0]) return;
		yield rows[0].bytes;
	}
}

/** Yields the list of the files of evidence. */
export async function* listEvidence(
	source: Source,
): AsyncGenerator<PackageFile> {
	const { withFiles } = source.scope;
	async function* pages() {
		for await (const page of readEvidenceFiles(source)) {
			yield page.map((row) => ({
				...row,
				file:
					withFiles && row.has_content
						? evidencePath(row.evidence_id, row.file_name)
						: null,
			}));
		}
	}
	const fields = [
		...["evidence_id", "name", "file_name", "content_type", "size_bytes"],
		...["sha256", "uploaded_by_name", "uploaded_at", "file"],
	];
	yield csvFile("evidence/files.csv", fields, pages());
}
