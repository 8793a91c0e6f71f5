import { expect, test } from "vitest";
import { runCommand } from "../support/command.ts";

test.for([
	[["user", "create"]],
	[
		[
			"user",
			"create",
			"--email",
			"x",
			"--name",
			"N",
			"--org",
			"o",
			"--role",
			"viewer",
		],
	],
	[
		[
			"user",
			"create",
			"--email",
			"x@example.com",
			"--name",
			"N",
			"--org",
			"o",
			"--role",
			"owner",
		],
	],
	[["api-token", "create", "--user", "x@example.com"]],
	[
		[
			"api-token",
			"create",
			"--user",
			"x@example.com",
			"--name",
			"N",
			"--expires-in-days",
			"0",
		],
	],
])("wrong usage %j exits with 2", async ([args]) => {
	const ended = await runCommand(args as string[]);
	expect(ended).toMatchObject({ code: 2, stdout: "" });
	expect(ended.stderr).toMatch(/^error: /);
});

test.for([
	["user"],
	["user", "create"],
	["user", "list"],
	["user", "set-password"],
	["user", "set-role"],
	["user", "remove"],
	["org", "list"],
	["api-token"],
	["api-token", "create"],
	["api-token", "list"],
	["api-token", "revoke"],
])("assay %s %s --help prints the help of the command", async (command) => {
	const { code, stdout } = await runCommand([...command, "--help"]);
	expect(code).toBe(0);
	expect(stdout).toContain(`Usage: assay ${command.join(" ")}`);
});
