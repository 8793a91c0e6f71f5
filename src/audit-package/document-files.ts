import { VERSIONS, versionPath } from "./chosen-files.ts";
import {
	csvFile,
	inPeriod,
	type PackageFile,
	readQuery,
	type Source,
} from "./package-file.ts";

interface Version {
	id: string;
	title: string;
	version_number: number;
	content: string;
}

/** Yields the text of each version. */
export async function* readVersions(
	source: Source,
): AsyncGenerator<PackageFile> {
	const versions = readQuery<Version>(
		source,
		`select v.id, v.title, v.version_number, v.content from ${VERSIONS}
		order by v.document_id, v.version_number`,
		inPeriod(source),
		10,
	);
	for await (const page of versions) {
		for (const { id, title, version_number: number, content } of page) {
			async function* text() {
				yield content;
			}
			yield { path: versionPath(id, title, number), content: text() };
		}
	}
}

/** Yields the list of the versions. */
export async function* listVersions(
	source: Source,
): AsyncGenerator<PackageFile> {
	const versions = readQuery<Version>(
		source,
		`select v.id, v.document_id, v.title, v.version_number, v.changelog, v.author_name,
			v.published_at, v.published_by_name, encode(v.content_hash, 'hex') as content_hash
		from ${VERSIONS} order by v.document_id, v.version_number`,
		inPeriod(source),
	);
	async function* pages() {
		for await (const page of versions) {
			yield page.map((row) => ({
				...row,
				file: versionPath(row.id, row.title, row.version_number),
			}));
		}
	}
	const fields = [
		...["document_id", "id", "title", "version_number", "changelog"],
		...["author_name", "published_at", "published_by_name", "content_hash"],
		"file",
	];
	yield csvFile("documents/versions.csv", fields, pages());
}
