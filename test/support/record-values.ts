import { parseId } from "../../src/id.ts";
import type { Calls } from "./calls.ts";
import type { Sample } from "./record-samples/sample.ts";

export const isNullable = (sample: Sample, field: string): boolean =>
	String(sample.fields[field]).endsWith("?") &&
	!Array.isArray(sample.fields[field]);

export const typeOf = (sample: Sample, field: string): string | string[] => {
	const type = sample.fields[field];
	return Array.isArray(type) ? type : String(type).replace(/\?$/, "");
};

/** Two records of each kind that other records refer to. */
export type References = Record<
	"people" | "framework" | "measure" | "audit" | "vendor",
	[string, string]
>;

const NAMES: Record<keyof References, string | null> = {
	people: "Ada Lovelace",
	framework: "ISO 27001",
	measure: "Backup",
	audit: null,
	vendor: "Cloud",
};

/** The kinds of records that the samples refer to. */
export const REFERENCED = Object.keys(NAMES) as (keyof References)[];

/** Returns the names that results contain beside the ids of these records. */
export function namesBeside(
	values: Record<string, unknown>,
): Record<string, unknown> {
	const nameOf = (id: unknown) =>
		NAMES[parseId(String(id))?.kind as keyof References] ?? null;
	return Object.fromEntries(
		Object.entries(values)
			.filter(([field]) => /_ids?$/.test(field) && !NOT_REFERENCES.has(field))
			.map(([field, ids]) => [
				field.replace("_id", "_name"),
				Array.isArray(ids) ? ids.map(nameOf) : nameOf(ids),
			]),
	);
}

const NOT_REFERENCES = new Set(["organization_id", "reference_id"]);

/**
 * Makes two records of each kind that others refer to, as an administrator of the organization, or as
 * the caller that `call` has.
 */
export async function makeReferences(
	calls: Pick<Calls, "call"> & Partial<Pick<Calls, "principal">>,
	organization_id: string,
): Promise<References> {
	const by = calls.principal?.("admin", organization_id);
	const pair = async (name: string, key: string, input: object) => {
		const add = async () =>
			String(
				(await calls.call(name, { organization_id, ...input }, by))[key].id,
			);
		return [await add(), await add()] as [string, string];
	};
	const people = await pair("addPeople", "people", {
		full_name: NAMES.people,
		primary_email_address: "ada@example.com",
		kind: "EMPLOYEE",
	});
	const framework = await pair("addFramework", "framework", {
		name: NAMES.framework,
	});
	return {
		people,
		framework,
		measure: await pair("addMeasure", "measure", {
			name: NAMES.measure,
			category: "IT",
		}),
		audit: await pair("addAudit", "audit", { framework_id: framework[0] }),
		vendor: await pair("addVendor", "vendor", { name: NAMES.vendor }),
	};
}

let made = 0;

/** Returns a value that the field may have. It is the first sample or another one. */
export function sampleValue(
	sample: Sample,
	field: string,
	references: References,
	which: 0 | 1 = 0,
): unknown {
	const type = typeOf(sample, field);
	// The samples are the last two values. If there are three or more values, the first sample is
	// then not the default.
	if (Array.isArray(type)) return type.at(which - 2);
	switch (type) {
		case "name":
			return [`Zürich's "${field}" 100% 🛡️`, `other ${field} \\ _`][which];
		case "text":
		case "required text":
			return [`Several\nlines\tof ${field}, été`, "x".repeat(5000)][which];
		case "url":
			return ["https://example.com/a?b=ü#c", "http://localhost:8080"][which];
		case "email":
			return ["ada.lovelace+test@example.com", "o'neil@ex-ample.co.uk"][which];
		case "start date":
			return ["2026-01-15", "2024-02-29"][which];
		case "end date":
			return ["2026-12-30", "2100-01-01"][which];
		case "datetime":
			return ["2026-01-15T08:30:00.000Z", "2024-02-29T23:59:59.999Z"][which];
		case "1-5":
			return [3, 5][which];
		case "amount":
			return [0, 2_147_483_647][which];
		case "reference id":
			return `REF ${++made}`;
		case "vendors":
			return [[...references.vendor].sort(), [references.vendor[0]]][which];
		case "several people":
			return [[...references.people].sort(), [references.people[0]]][which];
		case "months":
			return [12, 120][which];
		case "emails":
			return [["b@example.com", "a@example.com"], []][which];
		case "names":
			return [["SOC 2", "ISO 27001"], ["é"]][which];
		case "countries":
			return [["DE", "CH"], ["US"]][which];
		case "check":
			return ["DISK_ENCRYPTION", "SCREEN_LOCK"][which];
		case "percent":
			return [95, 80][which];
		case "checks":
			return [["DISK_ENCRYPTION", "SCREEN_LOCK"], []][which];
		default:
			return references[type as keyof References][which];
	}
}

/** Returns values for the required fields or for all fields. */
export function inputOf(
	sample: Sample,
	references: References,
	which: "required" | "all",
): Record<string, unknown> {
	const fields = which === "all" ? Object.keys(sample.fields) : sample.required;
	return Object.fromEntries(
		fields.map((field) => [field, sampleValue(sample, field, references)]),
	);
}

/** Adds records of each kind, `each` with the required fields and as many with all fields. */
export async function addSamples(
	calls: Calls,
	samples: readonly Sample[],
	each: number,
): Promise<References> {
	const organization_id = calls.organizationId;
	const references = await makeReferences(calls, organization_id);
	for (const sample of samples) {
		for (const which of ["required", "all"] as const) {
			for (let more = 0; more < each; more++) {
				await calls.call(`add${sample.one}`, {
					organization_id,
					...inputOf(sample, references, which),
				});
			}
		}
	}
	return references;
}
