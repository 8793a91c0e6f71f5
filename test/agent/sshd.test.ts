import { describe, expect, test } from "vitest";
import {
	judgeSshd,
	LINUX_SSHD,
	type SshdKind,
	WINDOWS_SSHD,
} from "../../agent/checks/sshd.ts";
import type { Platform } from "../../src/devices/terms.ts";
import { type Recording, recordedHost } from "./recorded-host.ts";
import { sshdSays } from "./recordings/sshd.ts";

const KINDS: [Platform, string, SshdKind | undefined][] = [
	["LINUX", "/etc/ssh", LINUX_SSHD],
	["DARWIN", "/etc/ssh", undefined],
	["FREEBSD", "/etc/ssh", undefined],
	["WINDOWS", "C:/ProgramData/ssh", WINDOWS_SSHD],
];

/** Judges a server by the rules for FreeBSD, from the output of `sshd -T` and the main file. */
const judge = (
	recording: Partial<Recording>,
	config: string | undefined = "",
	kind?: SshdKind,
) =>
	judgeSshd(
		recordedHost({
			platform: "FREEBSD",
			...recording,
			files: { "/etc/ssh/sshd_config": config, ...recording.files },
		}),
		{},
		kind,
	);

const judgeSaid = (changes: Record<string, string>) =>
	judge({ commands: { "sshd -T": sshdSays(changes) } });

test.each([
	["keys only", {}, false],
	["passwords", { passwordauthentication: "yes" }, true],
	["prompts of PAM", { kbdinteractiveauthentication: "yes" }, true],
	[
		"prompts of nothing",
		{ kbdinteractiveauthentication: "yes", usepam: "no" },
		false,
	],
	[
		"a key and a password",
		{
			passwordauthentication: "yes",
			authenticationmethods:
				"publickey,password publickey,keyboard-interactive",
		},
		false,
	],
	[
		"a key or a password",
		{
			passwordauthentication: "yes",
			authenticationmethods: "publickey password",
		},
		true,
	],
] as const)("a server that accepts %s: the check knows whether a password alone is enough", async (_, changes, expected) => {
	expect(await judgeSaid(changes)).toMatchObject({
		status: expected ? "FAIL" : "PASS",
		evidence: { password_authentication: expected },
	});
});

test.each([
	[{ permitrootlogin: "no" }, "no", "PASS"],
	[{ permitrootlogin: "without-password" }, "prohibit-password", "PASS"],
	[{ permitrootlogin: "yes" }, "yes", "FAIL"],
] as const)("with %j, the check knows how root may sign in", async (changes, expected, status) => {
	expect(await judgeSaid(changes)).toMatchObject({
		status,
		evidence: { root_login: expected },
	});
});

test("a server that listens only on loopback is recognized, also with IPv6", async () => {
	const open = { passwordauthentication: "yes" };
	for (const listenaddress of ["127.0.0.1:22", "[::1]:22"]) {
		expect(await judgeSaid({ ...open, listenaddress })).toMatchObject({
			status: "PASS",
			evidence: { loopback_only: true },
		});
	}
	const both = `${sshdSays({ ...open, listenaddress: "127.0.0.1:22" })}listenaddress 10.0.0.1:22\n`;
	expect(await judge({ commands: { "sshd -T": both } })).toMatchObject({
		status: "FAIL",
		evidence: { loopback_only: false },
	});
});

test("if sshd cannot read the host keys, the settings come from sshd -G", async () => {
	const outcome = await judge({
		isPrivileged: false,
		commands: {
			"sshd -T": {
				exitCode: 1,
				stderr: "sshd: no hostkeys available -- exiting.\n",
			},
			"sshd -G": sshdSays({ passwordauthentication: "yes" }),
		},
	});
	expect(outcome.status).toBe("FAIL");
});

const KEYS_ONLY = { commands: { "sshd -T": sshdSays() } };
const denied = (isPrivileged: boolean): Partial<Recording> => ({
	...KEYS_ONLY,
	isPrivileged,
	files: { "/etc/ssh/sshd_config.d/50-x.conf": { kind: "denied" } },
});
const INCLUDE = "Include /etc/ssh/sshd_config.d/*.conf\n";

test.each([
	["no sshd", {}, "", "command_missing"],
	[
		"no root and an old sshd",
		{
			isPrivileged: false,
			commands: { "sshd -T": { exitCode: 1 }, "sshd -G": { exitCode: 1 } },
		},
		"",
		"needs_root",
	],
	[
		"settings that sshd rejects",
		{
			commands: {
				"sshd -T": { exitCode: 255, stderr: "Bad configuration option" },
				"sshd -G": { exitCode: 255 },
			},
		},
		"",
		"command_failed",
	],
	[
		"something else",
		{ commands: { "sshd -T": "usage: sshd [-46]" } },
		"",
		"unrecognized_output",
	],
	["blocks that only root may read", denied(false), INCLUDE, "needs_root"],
	[
		"blocks that root cannot read",
		denied(true),
		INCLUDE,
		"unreadable_settings",
	],
	[
		"files in folders that a pattern names",
		KEYS_ONLY,
		"Include /etc/ssh/*/extra.conf\n",
		"unreadable_settings",
	],
	[
		"two blocks that together let users in",
		KEYS_ONLY,
		"Match Address 10.0.0.0/8\n\tAuthenticationMethods any\nMatch Group staff\n\tPasswordAuthentication yes\n\tAuthenticationMethods publickey,password\n",
		"conditional_settings",
	],
] as [
	string,
	Partial<Recording>,
	string,
	string,
][])("%s: UNKNOWN with the reason", async (_, recording, config, reason) => {
	expect(await judge(recording, config)).toMatchObject({
		status: "UNKNOWN",
		evidence: { reason },
	});
});

test("a setting that applies to everybody fails even if the Match blocks cannot be read", async () => {
	const said = { "sshd -T": sshdSays({ passwordauthentication: "yes" }) };
	const outcome = await judge({ ...denied(true), commands: said }, INCLUDE);
	expect(outcome.status).toBe("FAIL");
});

describe.each(KINDS)("a Match block on %s", (platform, folder, kind) => {
	const judgeWith = (
		config: string,
		said: Record<string, string> = {},
		files: Recording["files"] = {},
	) =>
		judgeSshd(
			recordedHost({
				platform,
				commands: { "sshd -T": sshdSays(said) },
				files: { [`${folder}/sshd_config`]: config, ...files },
			}),
			{},
			kind,
		);
	const some = { password_authentication_for_some: true };

	test.each([
		["of a group", "Match Group staff\n\tPasswordAuthentication yes\n"],
		[
			"of addresses",
			'match address 10.0.0.0/8\n passwordauthentication="yes"\n',
		],
		[
			"after a block that forbids it",
			"Match User a\nPasswordAuthentication no\nMatch User b\nPasswordAuthentication yes\n",
		],
		[
			"for loopback and others",
			"Match Address 127.0.0.1,192.168.0.0/16\nPasswordAuthentication yes\n",
		],
	])("that permits a password to some users fails: %s", async (_, block) => {
		expect(
			await judgeWith(`PasswordAuthentication no\n${block}`),
		).toMatchObject({
			status: "FAIL",
			evidence: { password_authentication: false, ...some },
		});
	});

	test("in an included file fails too, and ends at the end of the file", async () => {
		const included = {
			[`${folder}/sshd_config.d/10-x.conf`]:
				"Match Group staff\n\tPasswordAuthentication yes\n",
			[`${folder}/sshd_config.d/20-y.conf`]: "PasswordAuthentication no\n",
		};
		expect(
			await judgeWith("Include sshd_config.d/*.conf\n", {}, included),
		).toMatchObject({ status: "FAIL", evidence: some });
	});

	test.each([
		["only takes rights away", "Match Group sftp\n\tChrootDirectory %h\n", {}],
		[
			"asks for a key besides the password",
			"Match Group staff\n\tPasswordAuthentication yes\n\tAuthenticationMethods publickey,password\n",
			{},
		],
		[
			"requires a key, before a block that does not,",
			"Match Group staff\n\tPasswordAuthentication yes\n\tAuthenticationMethods publickey,password\nMatch Address 10.0.0.0/8\n\tAuthenticationMethods any\n",
			{},
		],
		[
			"applies only to connections from this machine",
			"Match Address 127.0.0.1,::1\n\tPasswordAuthentication yes\n",
			{},
		],
		[
			"permits passwords where everybody needs a key",
			"Match Group staff\n\tPasswordAuthentication yes\n",
			{ authenticationmethods: "publickey" },
		],
		[
			"ends before the setting",
			"Match User a\n\tX11Forwarding no\nMatch all\n\tKbdInteractiveAuthentication no\n",
			{},
		],
	] as const)("that %s changes nothing", async (_, block, said) => {
		expect((await judgeWith(block, said)).status).toBe("PASS");
	});

	test("that permits root to sign in fails on systems that have root", async () => {
		const outcome = await judgeWith(
			"Match Address 10.0.0.0/8\n\tPermitRootLogin yes\n",
		);
		expect(outcome).toMatchObject(
			platform === "WINDOWS"
				? { status: "PASS" }
				: { status: "FAIL", evidence: { root_login_for_some: true } },
		);
	});
});
