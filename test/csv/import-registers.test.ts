import { beforeEach, describe, expect, test } from "vitest";
import { writeLine, writeList } from "../../src/csv/text.ts";
import { labelOf } from "../../src/records/labels.ts";
import { recordKinds } from "../../src/registers/all.ts";
import type { Session } from "../support/console-session.ts";
import { samples } from "../support/record-samples.ts";
import { inputOf, makeReferences } from "../support/record-values.ts";
import { issues, outcomes, testImports } from "./imports.ts";

const imports = testImports();
let member: Session;
let organization_id: string;
beforeEach(() => {
	({ member, organization_id } = imports);
});

describe.for(samples)("$kind", (sample) => {
	const { kind, one, many, keys, key } = sample;

	test("an export that is imported again is unchanged, line for line", async () => {
		const references = await makeReferences(
			{ call: (name, input) => member.use(name, input) },
			organization_id,
		);
		for (const which of ["all", "required"] as const) {
			const given = inputOf(sample, references, which);
			await member.use(`add${one}`, { organization_id, ...given });
		}
		const list = () => member.use(`list${many}`, { organization_id });
		const { [keys]: before } = await list();
		const file = await member.get(
			`/api/console/export/list${many}.csv?organization_id=${organization_id}`,
		);
		const csv = await file.text();
		for (const dry_run of [true, false]) {
			const input = { organization_id, kind, csv, dry_run };
			const result = await member.use("importRecords", input);
			expect(issues(result)).toEqual([]);
			expect(result).toMatchObject({
				add: 0,
				update: 0,
				unchanged: before.length,
				wrong: 0,
				matched_by: "id",
			});
		}
		expect((await list())[keys]).toEqual(before);
	});

	test("every field can be imported and read back", async () => {
		const references = await makeReferences(
			{ call: (name, input) => member.use(name, input) },
			organization_id,
		);
		const given = inputOf(sample, references, "all");
		const csv = [
			writeLine(Object.keys(given)),
			writeLine(
				Object.values(given).map((value) =>
					Array.isArray(value) ? writeList(value) : String(value ?? ""),
				),
			),
		].join("");
		const result = await member.use("importRecords", {
			organization_id,
			kind,
			csv,
			match_by: "none",
			dry_run: false,
		});
		expect(outcomes(result)).toEqual(["ADD"]);
		const read = await member.use(`get${one}`, { id: result.lines[0].id });
		expect(read[key]).toMatchObject(given);
	});
});

test.for(
	recordKinds,
)("every label of $kind is read as its own field", async (kind) => {
	for (const [name, { given }] of Object.entries(kind.fields)) {
		if (given === "computed") continue;
		const result = await imports.tryImport(kind.kind, [
			`${labelOf(name)},`,
			"x,",
		]);
		expect(result).toMatchObject({ unknown_columns: [], guessed_columns: [] });
	}
});
