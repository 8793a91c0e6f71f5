import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { runCommand } from "../support/command.ts";
import { makeFolder } from "../support/folder.ts";
import { startTools, type TestTools } from "../support/tools.ts";

let tools: TestTools;
let riskId: string;
beforeAll(async () => {
	tools = await startTools(undefined, { ASSAY_MAX_FILE_MB: "1" });
	const { risk } = await tools.use("addRisk", {
		organization_id: tools.organizationId,
		name: "Theft",
		category: "Security",
		treatment: "MITIGATED",
		inherent_likelihood: 3,
		inherent_impact: 3,
	});
	riskId = risk.id;
});
afterAll(() => tools.close());

const add = (args: string[], token = tools.member.token) =>
	runCommand(["evidence", "add", ...args], {
		ASSAY_BASE_URL: tools.url,
		ASSAY_TOKEN: token,
	});

test("`evidence add` uploads a file for a record and prints its hash", async () => {
	const file = join(await makeFolder("evidence"), "camera log.txt");
	await writeFile(file, "12:00 door closed\n");
	const options = ["--record", riskId, "--valid-until", "2027-01-31", "--json"];
	const { code, stdout, stderr } = await add([file, ...options]);
	expect([code, stderr]).toEqual([0, ""]);
	const { evidence } = JSON.parse(stdout);
	expect(evidence).toMatchObject({
		name: "camera log.txt",
		valid_until: "2027-01-31",
		file: { size_bytes: 18 },
	});
	const linked = await tools.use("listLinkedRecords", { record_id: riskId });
	expect(linked.linked_records).toMatchObject([{ id: evidence.id }]);
});

test("`evidence add` says why a file is refused, also when the service stops reading it", async () => {
	const folder = await makeFolder("evidence");
	const large = join(folder, "large.txt");
	await writeFile(large, Buffer.alloc(3 << 20, "x"));
	for (const [file, token, why] of [
		[large, tools.member.token, "at most 1 MB"],
		[large, tools.viewer.token, "needs the role member"],
		[join(folder, "none.txt"), tools.member.token, "cannot be read"],
	] as const) {
		const { code, stdout, stderr } = await add(
			[file, "--record", riskId],
			token,
		);
		expect([code, stdout]).toEqual([1, ""]);
		expect(stderr).toContain(why);
	}
});
