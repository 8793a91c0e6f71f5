import { expect, test } from "vitest";
import { readSshdSettings } from "../../agent/checks/sshd.ts";
import { type Recording, recordedHost } from "./recorded-host.ts";
import { sshdSays } from "./recordings/sshd.ts";

const ask = (recording: Partial<Recording>) =>
	readSshdSettings(recordedHost({ platform: "FREEBSD", ...recording }));

const askWith = async (changes: Record<string, string>) => {
	const answer = await ask({ commands: { "sshd -T": sshdSays(changes) } });
	return answer.known ? answer.settings : answer;
};

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
] as const)("%s: whether a password alone lets in", async (_, changes, expected) => {
	expect(await askWith(changes)).toMatchObject({ passwordLogin: expected });
});

test.each([
	[{ permitrootlogin: "no" }, "no"],
	[{ permitrootlogin: "without-password" }, "prohibit-password"],
	[{ permitrootlogin: "yes" }, "yes"],
] as const)("%j: how root may sign in", async (changes, expected) => {
	expect(await askWith(changes)).toMatchObject({ rootLogin: expected });
});

test("a server on loopback alone is told apart, also of IPv6", async () => {
	expect(await askWith({ listenaddress: "127.0.0.1:22" })).toMatchObject({
		loopbackOnly: true,
	});
	expect(await askWith({ listenaddress: "[::1]:22" })).toMatchObject({
		loopbackOnly: true,
	});
	const both = `${sshdSays({ listenaddress: "127.0.0.1:22" })}listenaddress 10.0.0.1:22\n`;
	expect(await ask({ commands: { "sshd -T": both } })).toMatchObject({
		settings: { loopbackOnly: false },
	});
});

test("without the host keys the settings come from sshd -G", async () => {
	const answer = await ask({
		isPrivileged: false,
		commands: {
			"sshd -T": {
				exitCode: 1,
				stderr: "sshd: no hostkeys available -- exiting.\n",
			},
			"sshd -G": sshdSays({ passwordauthentication: "yes" }),
		},
	});
	expect(answer).toMatchObject({
		known: true,
		settings: { passwordLogin: true },
	});
});

test.each([
	["no sshd", {}, "command_missing"],
	[
		"no root and an old sshd",
		{
			isPrivileged: false,
			commands: { "sshd -T": { exitCode: 1 }, "sshd -G": { exitCode: 1 } },
		},
		"needs_root",
	],
	[
		"settings that sshd refuses",
		{
			commands: {
				"sshd -T": { exitCode: 255, stderr: "Bad configuration option" },
				"sshd -G": { exitCode: 255 },
			},
		},
		"command_failed",
	],
	[
		"something else",
		{ commands: { "sshd -T": "usage: sshd [-46]" } },
		"unrecognized_output",
	],
	[
		"a block that lets some in with a password",
		{
			commands: { "sshd -T": sshdSays() },
			files: {
				"/etc/ssh/sshd_config":
					"PasswordAuthentication no\nMatch Group staff\n\tPasswordAuthentication yes\n",
			},
		},
		"conditional_settings",
	],
	[
		"such a block in an included file",
		{
			commands: { "sshd -T": sshdSays() },
			files: {
				"/etc/ssh/sshd_config": "Include /etc/ssh/sshd_config.d/*.conf\n",
				"/etc/ssh/sshd_config.d/50-x.conf":
					'match address 10.0.0.0/8\n  passwordauthentication="yes"\n',
			},
		},
		"conditional_settings",
	],
] as [
	string,
	Partial<Recording>,
	string,
][])("%s: not known, and why", async (_, recording, reason) => {
	expect(await ask(recording)).toEqual({ known: false, reason });
});

test("a block that only takes rights away changes nothing", async () => {
	const answer = await ask({
		commands: { "sshd -T": sshdSays() },
		files: {
			"/etc/ssh/sshd_config":
				"Match Group sftponly\n\tChrootDirectory %h\n\tPermitTTY no\n",
		},
	});
	expect(answer).toMatchObject({
		known: true,
		settings: { passwordLogin: false },
	});
});
