import { globSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { parseSync } from "rolldown/utils";
import { expect, test } from "vitest";
import {
	FIELD_LABELS,
	fieldLabel,
	RULE_LABELS,
} from "../../console/src/parts/field-labels.ts";
import { RULE_FIELDS } from "../../src/devices/check-rules.ts";
import { OWN_FIELDS } from "../../src/devices/group-policies/store.ts";
import { recordKinds } from "../../src/registers/all.ts";

const root = join(import.meta.dirname, "../..");

interface Node {
	type: string;
	[key: string]: unknown;
}

/** The fields that a file notes of a record, and the kind if the place says it. */
interface Noted {
	path: string;
	kind?: string | undefined;
	name: string;
}

/** Files whose names of fields are computed: the fields of each, or a constant that lists them. */
const COMPUTED: Record<string, { kind: string; names: string | string[] }> = {
	// The fields of a register have the labels of its form.
	"src/csv/import-answer.ts": { kind: "risk", names: [] },
	"src/records/values.ts": { kind: "risk", names: [] },
	"src/snapshots/differences.ts": { kind: "snapshot", names: [] },
	"src/devices/check-rule-store.ts": {
		kind: "device_policy",
		names: RULE_FIELDS.map((name) => `DISK_ENCRYPTION.${name}`),
	},
	"src/devices/device-changes.ts": { kind: "device", names: "AUDITED" },
	"src/devices/exceptions/exception-changes.ts": {
		kind: "device_exception",
		names: "FIELDS",
	},
	"src/devices/fleet-operations.ts": {
		kind: "device",
		names: ["status", "awaits_approval", "owner_id", "claimed_owner_id"],
	},
	"src/devices/group-operations.ts": {
		kind: "device_group",
		names: ["description", "added_device_ids", "removed_device_ids"],
	},
	"src/devices/group-policies/operations.ts": {
		kind: "device_group_policy",
		names: ["priority", ...OWN_FIELDS, "DISK_ENCRYPTION.grace_days"],
	},
	"src/devices/policy-operations.ts": {
		kind: "device_policy",
		names: [...OWN_FIELDS, "exceptions_need_two_people"],
	},
	"src/devices/replace-devices.ts": {
		kind: "device",
		names: ["name", "owner_id", "claimed_owner_id", "hardware_uuid"],
	},
	"src/documents/sign-link.ts": {
		kind: "document",
		names: ["version_3_signature"],
	},
	"src/audit/redaction.ts": { kind: "user", names: ["redacted_entries"] },
	"src/notifications/channel-record.ts": {
		kind: "notification_channel",
		names: "AUDITED",
	},
	"src/organizations/member-operations.ts": {
		kind: "member",
		names: "CHANGEABLE",
	},
	"src/organizations/organization-operations.ts": {
		kind: "organization",
		names: [
			"description",
			"time_zone",
			"heartbeat_interval_seconds",
			"posture_interval_seconds",
			"skipped_steps",
		],
	},
	"src/scim/kept-limits.ts": {
		kind: "member",
		names: ["ends_on", "writable_registers", "reads_audit_log"],
	},
	"src/scim/users.ts": { kind: "user", names: "NOTED" },
	"src/sign-in/only-provider/operations.ts": {
		kind: "organization",
		names: ["only_provider", "accepts_older_tokens", "emergency_accounts"],
	},
	"src/sign-in/providers/operations.ts": {
		kind: "identity_provider",
		names: "AUDITED",
	},
	"src/sign-in/session-limits-operations.ts": {
		kind: "organization",
		names: ["session_idle_minutes", "session_max_hours"],
	},
	"src/records/links.ts": { kind: "risk", names: ["linked_record"] },
	"src/views/saved-views.ts": {
		kind: "saved_view",
		names: ["list", "name", "search"],
	},
	"src/webhooks/operations.ts": {
		kind: "webhook",
		names: ["description", "event_types", "is_enabled"],
	},
};

/** Files that compare two states for other purposes than the audit log. */
const OTHERS = ["src/devices/policy-effects.ts"];

const isNode = (value: unknown): value is Node =>
	typeof value === "object" && value !== null && "type" in value;

const childrenOf = (node: Node): Node[] =>
	Object.values(node).flat().filter(isNode);

/** Returns the name of a property, or undefined if it is computed. */
function nameOf({ computed, key }: Node): string | undefined {
	const { name, value } = key as { name?: string; value?: string };
	return computed ? undefined : (name ?? value);
}

/** Returns true for an object that has only the ends of a change: `before`, `after` or both. */
function isEnds(node: unknown): boolean {
	if (!isNode(node)) return false;
	if (node.type === "ParenthesizedExpression") return isEnds(node.expression);
	if (node.type === "ConditionalExpression") {
		return isEnds(node.consequent) && isEnds(node.alternate);
	}
	if (node.type !== "ObjectExpression") return false;
	const properties = node.properties as Node[];
	return (
		properties.length > 0 &&
		properties.every((one) => {
			if (one.type !== "SpreadElement") {
				return /^(before|after)$/.test(nameOf(one) ?? "");
			}
			let inner = one.argument as Node;
			if (inner.type === "ParenthesizedExpression") {
				inner = inner.expression as Node;
			}
			return inner.type === "LogicalExpression" && isEnds(inner.right);
		})
	);
}

/** Finds the fields that a file notes, and whether it computes the names of some. */
function collect(path: string, source: string) {
	const noted: Noted[] = [];
	const lists = new Map<string, string[]>();
	let computes = false;
	const add = (name: string | undefined, kind?: string) => {
		if (name === undefined) computes = true;
		else noted.push({ path, kind, name });
	};
	const visit = (node: Node, kind?: string): void => {
		let inner = kind;
		if (node.type === "ObjectExpression") {
			const own = node.properties as Node[];
			const named = new Map(
				own
					.filter(({ type }) => type === "Property")
					.map((one) => [nameOf(one), one.value as Node]),
			);
			if (named.has("fields") && named.has("kind")) {
				const { type, value } = named.get("kind") as Node;
				inner = type === "Literal" ? String(value) : undefined;
			}
		}
		if (node.type === "Property" && isEnds(node.value)) {
			add(nameOf(node), kind);
		}
		if (node.type === "AssignmentExpression" && isEnds(node.right)) {
			const { computed, property } = node.left as Node;
			add(computed ? undefined : (property as { name: string })?.name);
		}
		if (node.type === "ArrayExpression") {
			const [, second, ...more] = node.elements as Node[];
			if (more.length === 0 && isEnds(second)) add(undefined);
		}
		if (node.type === "VariableDeclarator") {
			const texts = textsIn(node.init);
			if (texts) lists.set((node.id as { name: string }).name, texts);
		}
		for (const child of childrenOf(node)) visit(child, inner);
	};
	visit(parseSync(path, source).program as unknown as Node);
	return { noted, lists, computes };
}

/** Returns the texts of `["a", "b"] as const`. */
function textsIn(node: unknown): string[] | undefined {
	if (!isNode(node)) return undefined;
	if (/^TS(As|Satisfies)Expression$/.test(node.type)) {
		return textsIn(node.expression);
	}
	if (node.type !== "ArrayExpression") return undefined;
	const values = (node.elements as Node[]).map(({ value }) => value);
	return values.every((value) => typeof value === "string")
		? values
		: undefined;
}

const KINDS = Object.keys(FIELD_LABELS);

/** Returns true if the field has a label, of its kind or, if the place names none, of some kind. */
const hasLabel = ({ kind, name }: Pick<Noted, "kind" | "name">) =>
	(kind ? [kind] : KINDS).some(
		(one) =>
			fieldLabel(one, name) !== undefined ||
			recordKinds.some((known) => known.kind === one && name in known.fields),
	);

test("every field that the service notes in the audit log has a label", async () => {
	const missing: string[] = [];
	const computing: string[] = [];
	for (const path of globSync("src/**/*.ts", { cwd: root })) {
		const source = await readFile(join(root, path), "utf8");
		if (!/\b(before|after)\b/.test(source) || OTHERS.includes(path)) continue;
		const { noted, lists, computes } = collect(path, source);
		if (computes) computing.push(path);
		const { kind, names = [] } = COMPUTED[path] ?? {};
		const listed = typeof names === "string" ? lists.get(names) : names;
		if (!listed) missing.push(`${path}: no list ${names}`);
		missing.push(
			...[...noted, ...(listed ?? []).map((name) => ({ kind, name }))]
				.filter((one) => !hasLabel(one))
				.map((one) => `${path}: ${one.kind ?? "?"}.${one.name}`),
		);
	}
	expect(missing).toEqual([]);
	// A file that computes the names of fields belongs into the list above, with these names.
	expect(computing.filter((path) => !(path in COMPUTED))).toEqual([]);
});

test("every field that the database notes about a device has a label", async () => {
	const schema = await readFile(join(root, "sql/schema.sql"), "utf8");
	const functions = schema
		.split("CREATE FUNCTION")
		.filter((text) => /audit_(device|append)\(/.test(text));
	const names = functions.flatMap((text) => [
		...text.matchAll(
			/'(\w+)',\s*(?:case [^,]*?then )?jsonb_build_object\('(?:before|after)'/g,
		),
		...[...text.matchAll(/from \(values([^;]*?)\) f \(/g)].flatMap(
			([, rows = ""]) => [...rows.matchAll(/\('(\w+)',/g)],
		),
	]);
	const noted = [...new Set(names.map(([, name = ""]) => name))];
	expect(noted).toEqual(
		expect.arrayContaining(["status", "hostname", "conflict", "group_id"]),
	);
	const kind = "device";
	expect(noted.filter((name) => !hasLabel({ kind, name }))).toEqual([]);
});

test("a rule of the device policy is named after its check and a version's field after the version", () => {
	expect(Object.keys(RULE_LABELS)).toEqual([...RULE_FIELDS]);
	expect(
		fieldLabel("device_policy", "OS_VERSION.grace_days", () => "OS version"),
	).toBe("OS version: days of grace");
	expect(fieldLabel("document", "version_2_changelog")).toBe(
		"Version 2: what is new",
	);
	expect(fieldLabel("device", "shoe_size")).toBeUndefined();
});
