import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import {
	setImporting,
	setOrganization,
	setUser,
} from "../../src/db/transaction-settings.ts";

const root = join(import.meta.dirname, "../..");

test("the settings of the policies are made with set local, and docs/scaling.md names what set_config still sets", () => {
	const found = globSync("src/**/*.ts", { cwd: root })
		.flatMap((file) =>
			[
				...readFileSync(join(root, file), "utf8").matchAll(
					/set_config\(\s*('?[\w.]+'?)/g,
				),
			].map(([, setting]) => `${file}: ${setting}`),
		)
		.sort();
	expect(found).toEqual([
		// The name is 'transaction_timeout', if the server has this setting.
		"src/backup/owner-connection.ts: name",
		"src/db/roles.ts: 'role'",
		"src/devices/enrollment.ts: 'assay.address'",
		"src/devices/enrollment.ts: 'assay.address'",
		"src/devices/heartbeat.ts: 'assay.address'",
		"src/devices/heartbeat.ts: 'assay.agent'",
	]);
});

test.each([
	["setOrganization", setOrganization],
	["setUser", setUser],
	["setImporting", setImporting],
] as const)("%s puts nothing but an id of 32 characters into the statement", (_name, set) => {
	const id = "AbCdEfGhIjKlMnOpQrStUvWxYz012-_9";
	expect(set(id)).toMatch(new RegExp(`^set local assay\\.\\w+ = '${id}'$`));
	expect(set("")).toMatch(/ = ''$/);
	for (const wrong of [`${id.slice(1)}'`, `${id}\n`, `${id}0`, "'; commit"]) {
		expect(() => set(wrong)).toThrow("ids of 32 characters");
	}
});
