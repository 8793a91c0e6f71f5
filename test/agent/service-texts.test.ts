import { execFileSync, spawnSync } from "node:child_process";
import {
	chmodSync,
	existsSync,
	mkdtempSync,
	rmSync,
	writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { launchdPlist } from "../../agent/service/launchd.ts";
import { checkSpec } from "../../agent/service/manager.ts";
import { rcScript } from "../../agent/service/rc-d.ts";
import { systemdUnit } from "../../agent/service/systemd.ts";
import { quoteArgument, taskXml } from "../../agent/service/task-scheduler.ts";

const folder = mkdtempSync(join(tmpdir(), "assay-service-"));
afterAll(() => rmSync(folder, { recursive: true }));

/**
 * Characters that may occur in paths and settings and that a unit, a script or an XML file could
 * misread.
 */
const ODD = `it's "50%" of $HOME & <b> ; \\ \`id\` $(id)`;
const plain = {
	program: "/usr/local/libexec/assay-agent/assay-agent",
	args: ["run", "--dir", "/var/lib/assay-agent"],
	folder: "/var/lib/assay-agent",
	environment: {},
};
const odd = {
	program: "/opt/a b/assay-agent",
	args: ["run", "--dir", `/var/${ODD}`],
	folder: `/var/${ODD}`,
	environment: { HTTPS_PROXY: `http://${ODD}`, ASSAY_LOG_LEVEL: "debug" },
};

describe("the systemd unit", () => {
	test("always restarts the agent, and keeps its arguments separate", () => {
		const unit = systemdUnit(plain);
		expect(unit).toContain(
			'ExecStart="/usr/local/libexec/assay-agent/assay-agent" "run" "--dir" "/var/lib/assay-agent"\n',
		);
		expect(unit).toMatch(/^Restart=always$/m);
		expect(unit).toMatch(/^Type=exec$/m);
		expect(unit).not.toContain("Environment=");
	});

	test("does not expand anything in paths and variables", () => {
		const unit = systemdUnit(odd);
		expect(unit).toContain(
			String.raw`"/var/it's \"50%%\" of $$HOME & <b> ; \\ ${"`id`"} $$(id)"`,
		);
		expect(unit).toContain(
			String.raw`Environment="HTTPS_PROXY=http://it's \"50%%\" of $HOME & <b> ; \\ ${"`id`"} $(id)"`,
		);
	});

	test("hides no mounts, devices or homes from the checks", () => {
		expect(systemdUnit(plain)).not.toMatch(
			/^(Protect|Private|ReadOnly|Inaccessible|MemoryDeny|DynamicUser|User)/m,
		);
	});

	const analyze = "/usr/bin/systemd-analyze";
	test.skipIf(!existsSync(analyze))("is accepted by systemd", () => {
		const program = join(folder, "assay agent");
		writeFileSync(program, "#!/bin/sh\n");
		chmodSync(program, 0o755);
		const unit = join(folder, "assay-agent.service");
		writeFileSync(unit, systemdUnit({ ...odd, program }));
		const { stderr, status } = spawnSync(
			analyze,
			["verify", "--man=no", unit],
			{ encoding: "utf8" },
		);
		// systemd-analyze also warns about other units and about settings that it does not know.
		const complaints = stderr
			.split("\n")
			.filter((line) => line.includes("assay-agent.service"));
		expect({ complaints, status }).toEqual({ complaints: [], status: 0 });
	});
});

describe("the property list for launchd", () => {
	test("is well-formed XML whatever the paths are", () => {
		const plist = launchdPlist(odd);
		expect(texts(plist)).toContain(`/var/${ODD}`);
		expect(texts(plist)).toContain(`http://${ODD}`);
	});

	test("keeps the agent alive in the background", () => {
		const plist = launchdPlist(plain);
		expect(texts(plist).join(" ")).toContain(
			`ProgramArguments ${plain.program} ${plain.args.join(" ")} EnvironmentVariables RunAtLoad KeepAlive`,
		);
		expect(plist).toMatch(/<key>KeepAlive<\/key>\s*<true\/>/);
		expect(plist).toMatch(/<key>ProcessType<\/key>\s*<string>Background</);
	});
});

describe("the task for Windows", () => {
	const spec = {
		...odd,
		program: "C:\\Program Files\\Assay Agent\\assay-agent.exe",
		args: ["run", "--dir", "C:\\ProgramData\\Assay & Söhne\\"],
	};

	test("is well-formed XML", () => {
		expect(texts(taskXml(spec))).toContain(spec.program);
		expect(texts(taskXml(spec))).toContain(
			'run --dir "C:\\ProgramData\\Assay & Söhne\\\\"',
		);
	});

	test("runs as SYSTEM from the start of the device, without a time limit, also on battery", () => {
		const xml = taskXml(spec);
		expect(xml).toContain("<UserId>S-1-5-18</UserId>");
		expect(xml).toContain("<BootTrigger>");
		expect(xml).toContain("<ExecutionTimeLimit>PT0S</ExecutionTimeLimit>");
		expect(xml).toContain(
			"<DisallowStartIfOnBatteries>false</DisallowStartIfOnBatteries>",
		);
		expect(xml).toContain(
			"<MultipleInstancesPolicy>IgnoreNew</MultipleInstancesPolicy>",
		);
	});

	test.each([
		["run", "run"],
		["C:\\ProgramData\\Assay", "C:\\ProgramData\\Assay"],
		["C:\\Assay Agent", '"C:\\Assay Agent"'],
		["C:\\Assay Agent\\", '"C:\\Assay Agent\\\\"'],
		['a"b', '"a\\"b"'],
		['a\\"b', '"a\\\\\\"b"'],
		["", '""'],
	])("gives %s to the program as one argument", (argument, quoted) => {
		expect(quoteArgument(argument)).toBe(quoted);
	});
});

describe("the script for rc.d", () => {
	// rc.subr evaluates the arguments of the command a second time.
	const evaluate = (script: string) =>
		execFileSync("/bin/sh", ["-c", script, "assay_agent", "start"], {
			encoding: "utf8",
		});
	const withStub = (script: string) =>
		script.replace(
			". /etc/rc.subr",
			`load_rc_config() { :; }
run_rc_command() { eval "set -- $command $command_args"; printf '%s\\n' "$@"; printf '%s\\n' "proxy=$HTTPS_PROXY"; }`,
		);

	test("passes the agent's arguments unchanged", () => {
		const lines = evaluate(withStub(rcScript(odd)))
			.trimEnd()
			.split("\n");
		expect(lines).toEqual([
			"/usr/sbin/daemon",
			"-P",
			"/var/run/assay_agent.pid",
			"-R",
			"30",
			"-f",
			"-T",
			"assay-agent",
			"--",
			odd.program,
			...odd.args,
			`proxy=http://${ODD}`,
		]);
	});

	test("is off unless rc.conf says otherwise", () => {
		expect(rcScript(plain)).toMatch(/^: "\$\{assay_agent_enable:=NO\}"$/m);
		expect(rcScript(plain)).toContain('rcvar="assay_agent_enable"');
	});
});

test.each([
	["a line break", { ...plain, args: ["run", "--dir", "/a\nExecStart=/evil"] }],
	["a null byte", { ...plain, program: "/a\u0000b" }],
	["a lone surrogate", { ...plain, folder: "/a\ud800" }],
	["an invalid name of a variable", { ...plain, environment: { "A B": "c" } }],
])("%s is rejected before anything is written", (_, spec) => {
	expect(() => checkSpec(spec)).toThrow(
		/control character|is not a valid name/,
	);
});

/**
 * Returns the texts between the tags. Throws if the tags are not balanced or an entity is not one
 * of XML's.
 */
function texts(xml: string): string[] {
	const open: string[] = [];
	const found: string[] = [];
	for (const [token] of xml.matchAll(/<[^>]*>|[^<]+/g)) {
		if (/^<[?!]/.test(token) || token.endsWith("/>")) continue;
		const tag = /^<(\/?)([A-Za-z]+)( [A-Za-z]+="[^"<]*")*>$/.exec(token);
		if (tag?.[1]) expect(open.pop()).toBe(tag[2]);
		else if (tag?.[2]) open.push(tag[2]);
		else {
			expect(token).not.toMatch(/>|&(?!(amp|lt|gt|quot|apos);)/);
			if (token.trim()) found.push(unescapeXml(token));
		}
	}
	expect(open).toEqual([]);
	return found;
}

const unescapeXml = (text: string) =>
	text
		.replaceAll("&lt;", "<")
		.replaceAll("&gt;", ">")
		.replaceAll("&quot;", '"')
		.replaceAll("&apos;", "'")
		.replaceAll("&amp;", "&");
