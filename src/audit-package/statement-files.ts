import {
	type ApplicableControl,
	MAX_CONTROLS,
	readStatement,
} from "../applicability/statement.ts";
import { safeName } from "./chosen-files.ts";
import {
	csvFile,
	type PackageFile,
	readQuery,
	type Source,
} from "./package-file.ts";

const STATEMENT_FIELDS = [
	...["id", "section_title", "name", "applies", "justification"],
	...["inclusion_justification", "implementation", "measures", "documents"],
	...["evidence", "risks", "obligations", "checks"],
];

/** Yields the statement of the audit's framework, or of each framework. */
export async function* readStatements(
	source: Source,
): AsyncGenerator<PackageFile> {
	const { context, scope, subject } = source;
	const frameworks = readQuery<{ id: string; name: string }>(
		source,
		`select f.id, concat_ws(' ', f.name, f.version) as name from frameworks f
		where f.organization_id = $1 and ($2::text is null or f.id = $2) and (
			select count(*) from controls c where c.organization_id = $1 and c.framework_id = f.id
		) <= ${MAX_CONTROLS}
		order by f.id`,
		[scope.organizationId, subject.audit?.framework_id ?? null],
	);
	for await (const page of frameworks) {
		for (const { id, name } of page) {
			const path = `statements/${safeName(name)} ${id}.csv`;
			async function* controls() {
				const { client } = context;
				const read = await readStatement(client, scope.organizationId, id);
				yield read.map(toLine);
			}
			yield csvFile(path, STATEMENT_FIELDS, controls());
		}
	}
}

/** Names what is behind a control, because a cell has no room for records. */
function toLine(control: ApplicableControl) {
	const names = (records: { name: string }[]) =>
		records.map(({ name }) => name);
	return {
		...control,
		measures: control.measures.map(({ name, state }) => `${name} (${state})`),
		documents: control.documents.map(({ name, published_version: version }) =>
			version === null ? `${name} (not published)` : `${name} (v${version})`,
		),
		evidence: names(control.evidence),
		risks: names(control.risks),
		obligations: names(control.obligations),
	};
}
