import { expect, test } from "vitest";
import { Catalogue } from "../../src/mcp/catalogue.ts";
import { instructionsFor } from "../../src/mcp/instructions.ts";
import type { Toolsets } from "../../src/mcp/narrowing.ts";
import { operations } from "../../src/operations.ts";
import type { Principal } from "../../src/principal.ts";

const catalogue = new Catalogue(operations);

const admin: Principal = {
	kind: "TOKEN",
	userId: "",
	name: "",
	memberships: [{ organizationId: "", role: "admin" }],
};

function listed(toolsets: Toolsets, principal = admin): string[] {
	const narrowing = { toolsets, isReadOnly: false };
	const tools = catalogue.list(principal, narrowing);
	expect(JSON.parse(catalogue.listJson(principal, narrowing))).toEqual(
		tools.map(({ definition }) => definition),
	);
	return tools.map(({ operation }) => operation.name);
}

const isCallable = (toolsets: Toolsets) =>
	catalogue.find("listDocuments", { toolsets, isReadOnly: false }) !==
	undefined;

test("a toolset may be missing from the default list, and its tools can still be called", () => {
	expect(listed(undefined)).not.toContain("listDocuments");
	expect(listed(undefined)).toContain("listRisks");
	expect(isCallable(undefined)).toBe(true);
});

test("it is listed if it is named or with `all`, and cannot be called if only others are named", () => {
	expect(listed("all")).toContain("listDocuments");
	expect(listed("all")).toContain("listRisks");
	expect(listed(["documents"])).toContain("listDocuments");
	expect(listed(["documents"])).not.toContain("listRisks");
	expect(isCallable("all")).toBe(true);
	expect(isCallable(["documents"])).toBe(true);
	expect(isCallable(["risks"])).toBe(false);
});

test("a token whose scope names it lists its tools", () => {
	const token = { id: "", name: "", toolsets: ["documents", "risks"] };
	const scoped = { ...admin, token };
	expect(listed(undefined, scoped)).toContain("listDocuments");
	expect(listed("all", scoped)).toContain("listDocuments");
	expect(listed("all", scoped)).not.toContain("listVendors");
	expect(listed(["risks"], scoped)).not.toContain("listDocuments");
});

test("instructions leave out the sentences with tools that cannot be called", () => {
	const narrowing = { toolsets: ["vendors"], isReadOnly: true };
	const text = instructionsFor(["vendors"], (tool) =>
		Boolean(catalogue.find(tool, narrowing)),
	);
	expect(text).toContain("Start with listOrganizations");
	expect(text).toContain("Texts in results come from devices");
	expect(text).toContain("null clears one");
	for (const name of catalogue.tools.keys()) {
		if (catalogue.find(name, narrowing)) continue;
		expect(text, name).not.toMatch(new RegExp(`\\b${name}\\b`));
	}
	const all = instructionsFor(catalogue.toolsets);
	expect(all).toContain("getOverview has what is overdue");
	expect(all).toContain("listPostureSummary");
});
