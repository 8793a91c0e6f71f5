import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { OwnProgram } from "../../agent/own-program.ts";
import { commandToType } from "../../agent/service/command-to-type.ts";
import { makeFolder } from "../support/folder.ts";

const executable: OwnProgram = {
	program: "/home/ada/assay-agent/assay-agent",
	args: [],
};
const bundle = { program: "/usr/bin/node", args: ["/root/assay-agent.cjs"] };
const FOLDER = "/usr/local/libexec/assay-agent";

test("the advice names the full path of a program that is not in PATH", () => {
	const typed = (own: OwnProgram, folder?: string) =>
		commandToType("assay-agent", own, folder, "/var/empty");
	expect(typed(executable, FOLDER)).toBe(`${FOLDER}/assay-agent`);
	expect(typed(executable)).toBe(executable.program);
	expect(typed(bundle, FOLDER)).toBe(`/usr/bin/node ${FOLDER}/assay-agent.cjs`);
	expect(typed(bundle)).toBe("/usr/bin/node /root/assay-agent.cjs");
	expect(typed(executable, "/Library/Assay Agent")).toBe(
		'"/Library/Assay Agent/assay-agent"',
	);
});

test("the advice names the command if a package put it into PATH", async () => {
	const folder = await makeFolder("assay-path-");
	await writeFile(join(folder, "assay-agent"), "");
	expect(
		commandToType("assay-agent", executable, FOLDER, `/var/empty:${folder}`),
	).toBe("assay-agent");
	expect(commandToType("assay agent", bundle, FOLDER, "/var/empty")).toBe(
		"assay agent",
	);
});
