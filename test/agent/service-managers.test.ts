import {
	chmodSync,
	existsSync,
	mkdirSync,
	mkdtempSync,
	readFileSync,
	rmSync,
	statSync,
	symlinkSync,
	writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { powershellArgs } from "../../agent/checks/windows/powershell.ts";
import type { CommandResult, Host } from "../../agent/host.ts";
import { launchd } from "../../agent/service/launchd.ts";
import { checkProgram, placeProgram } from "../../agent/service/program.ts";
import { rcD } from "../../agent/service/rc-d.ts";
import { type SystemdPlaces, systemd } from "../../agent/service/systemd.ts";
import {
	TASK_STATE_SCRIPT,
	taskScheduler,
} from "../../agent/service/task-scheduler.ts";
import { uninstall } from "../../agent/uninstall.ts";
import { recordedHost } from "./recorded-host.ts";

let folder: string;
let places: SystemdPlaces;
let program: string;
beforeEach(() => {
	folder = mkdtempSync(join(tmpdir(), "assay-service-"));
	places = {
		units: join(folder, "units"),
		programs: join(folder, "programs"),
		packagedUnits: join(folder, "packaged"),
	};
	mkdirSync(places.units);
	mkdirSync(places.packagedUnits);
	program = join(folder, "downloaded");
	writeFileSync(program, "the program", { mode: 0o700 });
});
afterEach(() => rmSync(folder, { recursive: true }));

type Said = Record<string, string | Partial<CommandResult>>;

/**
 * Makes a host that gives recorded answers, or success if there is none. It records the commands
 * that were run.
 */
function systemSaying(said: Said) {
	const ran: string[] = [];
	const recorded = recordedHost({ platform: "LINUX", commands: said });
	const host: Host = {
		...recorded,
		run: async (name, args = []) => {
			const line = [name, ...args].join(" ");
			ran.push(line);
			return line in said
				? recorded.run(name, args)
				: { ended: "exited", exitCode: 0, stdout: "", stderr: "" };
		},
	};
	return { host, ran };
}

const spec = () => ({
	program,
	args: ["run", "--dir", "/var/lib/assay-agent"],
	folder: "/var/lib/assay-agent",
	environment: {},
});

const isRoot = process.getuid?.() === 0;

// A service's program must belong to root, so only root can set up a service.
describe.skipIf(!isRoot)("setting up the service", () => {
	test("systemd runs a copy that only root can write, and loads the unit", async () => {
		const { host, ran } = systemSaying({});
		await systemd(host, places).install(spec());
		const copy = join(places.programs, "assay-agent");
		expect(readFileSync(copy, "utf8")).toBe("the program");
		expect(statSync(copy).mode & 0o777).toBe(0o755);
		const unit = readFileSync(
			join(places.units, "assay-agent.service"),
			"utf8",
		);
		expect(unit).toContain(`ExecStart="${copy}" "run"`);
		expect(ran.slice(1)).toEqual([
			"systemctl daemon-reload",
			"systemctl enable assay-agent.service",
			"systemctl restart assay-agent.service",
		]);
	});

	test("a second setup, also by the copy itself, replaces the first", async () => {
		const { host } = systemSaying({});
		await systemd(host, places).install(spec());
		writeFileSync(program, "the next program");
		await systemd(host, places).install(spec());
		const copy = join(places.programs, "assay-agent");
		expect(readFileSync(copy, "utf8")).toBe("the next program");
		await systemd(host, places).install({ ...spec(), program: copy });
		expect(readFileSync(copy, "utf8")).toBe("the next program");
	});

	test("an error of the service manager contains its output", async () => {
		const { host } = systemSaying({
			"systemctl enable assay-agent.service": {
				exitCode: 1,
				stderr: "Failed to enable unit: Read-only file system\nmore\n",
			},
		});
		await expect(systemd(host, places).install(spec())).rejects.toThrow(
			"systemctl enable assay-agent.service ended with 1: Failed to enable unit: Read-only file system",
		);
	});

	test("systemd starts the unit of a package instead of a copy, and leaves it when the agent is uninstalled", async () => {
		const unit = join(places.packagedUnits, "assay-agent.service");
		writeFileSync(unit, "the unit of the package");
		const { host, ran } = systemSaying({});
		await systemd(host, places).install(spec());
		const [note] = await systemd(host, places).uninstall();
		expect(note).toContain("Remove it with your package manager");
		expect(ran).toEqual([
			"systemctl enable assay-agent.service",
			"systemctl restart assay-agent.service",
			"systemctl disable --now assay-agent.service",
		]);
		expect(existsSync(unit)).toBe(true);
		expect(existsSync(places.programs)).toBe(false);
		await expect(
			systemd(host, places).install({ ...spec(), folder: "/srv/agent" }),
		).rejects.toThrow("leave --dir out");
	});

	test("launchd gets the daemon only after an earlier one has stopped", async () => {
		const { host, ran } = systemSaying({
			"launchctl print system/assay-agent": { exitCode: 113 },
		});
		const mac = {
			daemons: places.units,
			logRotation: places.units,
			programs: places.programs,
			log: join(folder, "log"),
		};
		const rotation = join(places.units, "assay-agent.conf");
		writeFileSync(rotation, "of an earlier version");
		await launchd(host, mac).install(spec());
		// The agent limits its log itself. newsyslog would take the file away from it.
		expect(existsSync(rotation)).toBe(false);
		const plist = readFileSync(join(places.units, "assay-agent.plist"), "utf8");
		expect(plist).toMatch(
			new RegExp(`<string>--log</string>\\s*<string>${mac.log}</string>`),
		);
		writeFileSync(mac.log, "");
		writeFileSync(`${mac.log}.1`, "");
		expect(ran).toEqual([
			"launchctl bootout system/assay-agent",
			"launchctl print system/assay-agent",
			"launchctl enable system/assay-agent",
			`launchctl bootstrap system ${join(places.units, "assay-agent.plist")}`,
		]);
		expect(await launchd(host, mac).uninstall()).toEqual([]);
		expect(existsSync(join(places.units, "assay-agent.plist"))).toBe(false);
		expect(existsSync(mac.log)).toBe(false);
		expect(existsSync(`${mac.log}.1`)).toBe(false);
	});

	test("rc.d gets an executable script that rc.conf turns on", async () => {
		const { host, ran } = systemSaying({});
		const bsd = { scripts: places.units, programs: places.programs };
		await rcD(host, bsd).install(spec());
		const script = join(places.units, "assay_agent");
		expect(statSync(script).mode & 0o777).toBe(0o555);
		expect(ran).toEqual([
			"sysrc assay_agent_enable=YES",
			"service assay_agent onestop",
			"service assay_agent start",
		]);
		await rcD(host, bsd).uninstall();
		expect(existsSync(script)).toBe(false);
		expect(ran.at(-1)).toBe("sysrc -x assay_agent_enable");
	});

	test("the Task Scheduler gets its XML in a UTF-16 file, which is then removed", async () => {
		const { host } = systemSaying({});
		const file = join(places.programs, "task.xml");
		let bytes = Buffer.alloc(0);
		const watching: Host = {
			...host,
			run: async (name, args) => {
				if (args?.includes("/XML")) bytes = readFileSync(file);
				return host.run(name, args);
			},
		};
		const notes = await taskScheduler(watching, places.programs).install({
			...spec(),
			folder: "C:\\ProgramData\\Assay Agent",
			environment: { HTTPS_PROXY: "http://proxy" },
		});
		expect([...bytes.subarray(0, 4)]).toEqual([0xff, 0xfe, 0x3c, 0x00]);
		const xml = bytes.toString("utf16le");
		expect(xml).toContain("<Task version=");
		expect(xml).toContain(
			"--log &quot;C:\\ProgramData\\Assay Agent\\agent.log&quot;</Arguments>",
		);
		expect(existsSync(file)).toBe(false);
		expect(notes).toEqual([expect.stringContaining("HTTPS_PROXY")]);
	});

	test("the single file for Node is copied, but Node itself is not", async () => {
		const bundle = join(folder, "assay-agent.cjs");
		writeFileSync(bundle, "import 'node:fs'");
		const placed = await placeProgram(
			{ ...spec(), args: [bundle, "run"] },
			places.programs,
		);
		expect(placed.program).toBe(program);
		expect(placed.args).toEqual([
			join(places.programs, "assay-agent.cjs"),
			"run",
		]);
	});

	test.each([
		["a script that a group may write", 0o775, false],
		["a script in a folder that anybody may write", 0o755, true],
	])("%s is rejected", async (_, mode, isOpen) => {
		const checkout = join(folder, "checkout");
		mkdirSync(checkout);
		if (isOpen) chmodSync(checkout, 0o777);
		const script = join(checkout, "main.ts");
		writeFileSync(script, "");
		chmodSync(script, mode);
		const link = join(folder, "link.ts");
		symlinkSync(script, link);
		await expect(
			checkProgram({ ...spec(), args: [link, "run"] }),
		).rejects.toThrow(/users other than root can change/);
	});
});

describe("removing the service", () => {
	test("deletes the unit and the copy, and the second time says what was missing", async () => {
		const { host, ran } = systemSaying({});
		writeFileSync(join(places.units, "assay-agent.service"), "");
		mkdirSync(places.programs);
		writeFileSync(join(places.programs, "assay-agent"), "");
		expect(await systemd(host, places).uninstall()).toEqual([]);
		expect(ran[0]).toBe("systemctl disable --now assay-agent.service");
		expect(existsSync(places.programs)).toBe(false);
		expect(existsSync(join(places.units, "assay-agent.service"))).toBe(false);
		expect(await systemd(host, places).uninstall()).toEqual([
			"There was no service assay-agent.service.",
		]);
	});

	test("keeps and names the files that are not the agent's", async () => {
		const { host } = systemSaying({});
		mkdirSync(places.programs);
		writeFileSync(join(places.programs, "notes.txt"), "");
		expect((await systemd(host, places).uninstall())[1]).toContain(
			`${places.programs} was not removed`,
		);
		expect(existsSync(join(places.programs, "notes.txt"))).toBe(true);
	});

	test("a missing task is not an error", async () => {
		const query = ["powershell.exe", ...powershellArgs(TASK_STATE_SCRIPT)];
		const { host, ran } = systemSaying({
			[query.join(" ")]: '{"task":{"values":[]}}',
		});
		expect(await taskScheduler(host, places.programs).uninstall()).toEqual([
			'There was no task "Assay Agent".',
		]);
		expect(ran).toHaveLength(1);
	});
});

describe("the service's state", () => {
	test.each([
		["active", 0, "running"],
		["inactive", 3, "stopped"],
		["failed", 3, "stopped"],
		["activating", 3, "stopped"],
		["unheard-of", 3, "unknown"],
	])("systemd's %s", async (stdout, exitCode, state) => {
		const { host } = systemSaying({
			"systemctl is-active assay-agent.service": {
				stdout: `${stdout}\n`,
				exitCode,
			},
		});
		expect(await systemd(host, places).state()).toBe("not_installed");
		writeFileSync(join(places.units, "assay-agent.service"), "");
		expect(await systemd(host, places).state()).toBe(state);
	});

	test.each([
		["\tstate = running\n\tpid = 513\n", 0, "running"],
		["\tstate = spawn scheduled\n", 0, "stopped"],
		["", 113, "stopped"],
	])("launchd's %j", async (stdout, exitCode, state) => {
		const { host } = systemSaying({
			"launchctl print system/assay-agent": {
				stdout: `system/assay-agent = {\n${stdout}}\n`,
				exitCode,
			},
		});
		const mac = {
			daemons: places.units,
			logRotation: places.units,
			programs: places.programs,
			log: join(folder, "log"),
		};
		expect(await launchd(host, mac).state()).toBe("not_installed");
		writeFileSync(join(places.units, "assay-agent.plist"), "");
		expect(await launchd(host, mac).state()).toBe(state);
	});

	test.each([
		['{"task":{"values":[{"state":4}]}}', "running"],
		['{"task":{"values":[{"state":3}]}}', "stopped"],
		['{"task":{"values":[]}}', "not_installed"],
		['{"task":{"error":"HRESULT 0x80041003,x"}}', "unknown"],
		["Zugriff verweigert", "unknown"],
	])("the Task Scheduler's %s", async (stdout, state) => {
		const query = ["powershell.exe", ...powershellArgs(TASK_STATE_SCRIPT)];
		const { host } = systemSaying({ [query.join(" ")]: stdout });
		expect(await taskScheduler(host, places.programs).state()).toBe(state);
	});

	test.each([
		[0, "running"],
		[1, "stopped"],
	])("rc.d's %i", async (exitCode, state) => {
		const { host } = systemSaying({
			"service assay_agent onestatus": { exitCode },
		});
		const bsd = { scripts: places.units, programs: places.programs };
		expect(await rcD(host, bsd).state()).toBe("not_installed");
		writeFileSync(join(places.units, "assay_agent"), "");
		expect(await rcD(host, bsd).state()).toBe(state);
	});
});

test("uninstalling removes the config file before the program's folder, in which it lies on a Mac", async () => {
	mkdirSync(places.programs);
	const configFile = join(places.programs, "config");
	writeFileSync(configFile, "SERVER=https://a.example\n");
	writeFileSync(join(places.programs, "assay-agent"), "the program");
	const mac = {
		daemons: folder,
		logRotation: folder,
		programs: places.programs,
		log: join(folder, "log"),
	};
	writeFileSync(join(folder, "assay-agent.plist"), "");
	const { host } = systemSaying({
		"launchctl print system/assay-agent": { exitCode: 113 },
	});
	const { warnings } = await uninstall(
		join(folder, "agent"),
		{ configFile, removeService: () => launchd(host, mac).uninstall() },
		AbortSignal.timeout(60_000),
	);
	expect(warnings).toEqual([]);
	expect(existsSync(places.programs)).toBe(false);
});
