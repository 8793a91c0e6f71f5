import { execFile } from "node:child_process";
import { rm } from "node:fs/promises";
import { dirname } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { makeFolder } from "../support/folder.ts";
import { startConsole, type TestConsole } from "./browser.ts";
import { type Fleet, fleetOf } from "./fleet.ts";

let served: TestConsole;
let fleet: Fleet;
beforeAll(async () => {
	served = await startConsole();
	fleet = fleetOf(served);
});
afterAll(() => served.close());

test("the commands for a Linux shell enroll the machine on which they run", async () => {
	const { page } = await fleet.start("admin", async () => "/devices/new");
	await page.getByRole("button", { name: "Add the device" }).click();
	const commands = await page
		.getByLabel("Commands for a shell", { exact: true })
		.textContent();
	// In a test, the service listens on another port than in the address that it prints.
	const here = (commands ?? "").replace(
		"http://localhost:0",
		served.service.url,
	);
	for (const name of ["macOS", "Windows", "FreeBSD"]) {
		await page.getByRole("tab", { name }).click();
		const install = page.getByLabel(
			"Command that installs the agent as a service",
			{ exact: true },
		);
		await install.getByText(/assay-agent\.cjs install --server/).waitFor();
	}
	await promisify(execFile)("sh", ["-euc", here]);
	await page.getByText("The device is enrolled").waitFor();
});

test("one copied command downloads the agent, compares its checksum, enrolls the machine and reports", async () => {
	const { page } = await fleet.start("admin", async () => "/devices/new");
	await page.getByRole("button", { name: "Add the device" }).click();
	await page.getByRole("tab", { name: "Linux" }).click();
	const shown = page.getByLabel(
		"Command that reports once, without administrator rights",
		{ exact: true },
	);
	const link = page.getByRole("link", { name: "assay-agent.cjs" });
	expect(await link.getAttribute("href")).toBe(
		"/agent-packages/assay-agent.cjs",
	);
	const folder = await makeFolder("assay-agent-");
	// In a test, the service listens on another port than in the address that the page shows, and
	// root's agent would use the folder of this machine's agent.
	const command = ((await shown.textContent()) ?? "")
		.replaceAll("http://localhost:0", served.service.url)
		.replace("--no-service", `--no-service --dir ${folder}/agent`)
		.replace(/ once$/, ` once --dir ${folder}/agent`);
	const run = (text: string) =>
		promisify(execFile)("sh", ["-euc", text], {
			cwd: folder,
			env: {
				...process.env,
				PATH: `${dirname(process.execPath)}:${process.env.PATH}`,
			},
		});
	try {
		await expect(run(command.replace(/echo "../, 'echo "00'))).rejects.toThrow(
			/did NOT match/,
		);
		await page.getByText("Waiting for the device to enroll").waitFor();
		await run(command);
		await page.getByText("Its first report has arrived").waitFor();
	} finally {
		await rm(folder, { recursive: true });
	}
});
