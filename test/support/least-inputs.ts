import type { AnyOperation } from "../../src/operation.ts";
import { byName } from "./every-tool.ts";
import type { Json, TestTools } from "./tools.ts";

/** Values of many types. Each required field accepts at least one of them. */
const VALUES = [
	"Least",
	1,
	false,
	[],
	{},
	[{}],
	[{ device: "Least", owner: null }],
	"2026-01-31",
	"2026-01-31T00:00:00Z",
	"least@example.com",
	"https://example.com/",
	"DE",
];

const TOMORROW = new Date(Date.now() + 86_400_000).toISOString();

/** The smallest inputs of every operation, in the organization of the tests. */
export interface LeastInputs {
	/** One record of the organization of each kind, by the name of the kind, such as `Risk`. */
	seeds: ReadonlyMap<string, Json>;
	/** Returns values that the operation accepts for its required fields. */
	leastFor: (operation: AnyOperation) => Record<string, unknown>;
	/** Returns an input that names the organization in the field that the operation expects. */
	tenantOf: (operation: AnyOperation) => Record<string, unknown>;
}

/** Adds a record of each kind to the organization, with only its required fields. */
export async function makeLeastInputs(tools: TestTools): Promise<LeastInputs> {
	const seeds = new Map<string, Json>();

	const leastOf = (name: string, schema: Schema): unknown => {
		if (name === "organization_id") return tools.organizationId;
		if (name === "from" || name === "to") return seeds.get("People").id;
		if (name === "check") return "DISK_ENCRYPTION";
		if (name === "ends_at") return TOMORROW;
		if (name === "sha256") return "0".repeat(64);
		if (name === "id") return seeds.get("Risk").id;
		if (name === "devices") {
			const id = seeds.get("Device").id;
			return [{ device_id: id, predecessor_id: id }];
		}
		if (name.endsWith("_id")) {
			const kind = name.slice(0, -"_id".length);
			const seed = seeds.get(`${kind[0]?.toUpperCase()}${kind.slice(1)}`);
			return (seed ?? seeds.get("Risk"))?.id;
		}
		if (name.endsWith("_ids")) {
			return [leastOf(name.slice(0, -1), schema)];
		}
		const values = [...(schema.options ?? []), ...VALUES];
		const accepted = values.find((value) => schema.safeParse(value).success);
		if (accepted === undefined)
			throw new Error(`no value is known for ${name}`);
		return accepted;
	};
	const leastFor: LeastInputs["leastFor"] = ({ input }) =>
		Object.fromEntries(
			Object.entries(input.shape as Record<string, Schema>)
				.filter(([, schema]) => !schema.safeParse(undefined).success)
				.map(([name, schema]) => [name, leastOf(name, schema)]),
		);

	for (const [name, { operation }] of byName) {
		if (!name.startsWith("add")) continue;
		// A review changes the vendor that is another seed.
		if (["addRecords", "addStarters", "addVendorReview"].includes(name)) {
			continue;
		}
		const added = await tools.use(name, leastFor(operation));
		seeds.set(name.slice("add".length), Object.values<Json>(added)[0]);
	}
	const { snapshot } = await tools.use("takeSnapshot", {
		organization_id: tools.organizationId,
		name: "A",
		type: "RISKS",
	});
	seeds.set("Snapshot", snapshot);
	return {
		seeds,
		leastFor,
		tenantOf: ({ tenant, name }) => {
			if (tenant === null) return {};
			const seed =
				seeds.get(name.replace(/^[a-z]+/, "")) ??
				seeds.get(tenant === "from" ? "People" : "Risk");
			return {
				[tenant]: tenant === "organization_id" ? tools.organizationId : seed.id,
			};
		},
	};
}

/** The parts of a zod schema that this file uses. */
interface Schema {
	safeParse: (value: unknown) => { success: boolean };
	/** The values of an enum. Undefined for other schemas. */
	options?: readonly unknown[];
}
