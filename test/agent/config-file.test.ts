import { chmod, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import {
	parseConfig,
	readConfig,
	writeConfig,
} from "../../agent/config-file.ts";
import { configure } from "../../agent/configure.ts";
import { makeAgentFolder } from "./folders.ts";
import { recordedHost } from "./recorded-host.ts";

const FILE = "/etc/assay-agent/config";
const LINUX = recordedHost({ platform: "LINUX" });

test("a config file has one setting a line, and comments", () => {
	const text = `# from Ansible\r
SERVER=https://assay.example.com\r

KEYFILE = "/etc/assay-agent/enrollment key"
OWNEREMAIL=ada@example.com
`;
	const config = parseConfig(text, FILE);
	expect(config).toEqual({
		serverUrl: "https://assay.example.com",
		keyFile: "/etc/assay-agent/enrollment key",
		ownerEmail: "ada@example.com",
	});
	expect(parseConfig(writeConfig(config), FILE)).toEqual(config);
});

describe("a wrong config file is rejected with the place and the reason", () => {
	test.each([
		["SERVER=https://a.example\nKEY=x", "line 2 of /etc/assay-agent/config"],
		["enroll me", "line 1 of /etc/assay-agent/config"],
		["SERVER=https://a.example", "no value for KEYFILE"],
		["KEYFILE=/k", "no value for SERVER"],
		["SERVER=http://a.example\nKEYFILE=/k", "must begin with https://"],
	])("%j", (text, message) => {
		expect(() => parseConfig(text, FILE)).toThrow(message);
	});

	test("a value cannot add a line", () => {
		expect(() =>
			writeConfig({
				serverUrl: "https://a.example",
				keyFile: "/k\nCAFILE=/tmp/evil.pem",
			}),
		).toThrow("KEYFILE contains a line break");
	});
});

test("a config file that others can change, or that is huge, is not used; a missing one is none", async () => {
	const file = join(await makeAgentFolder(), "config");
	expect(await readConfig(file, LINUX)).toBeUndefined();
	const text = "SERVER=https://a.example\nKEYFILE=/k\n";
	await writeFile(file, text);
	await chmod(file, 0o666);
	await expect(readConfig(file, LINUX)).rejects.toThrow(
		"other users can change",
	);
	await chmod(file, 0o644);
	expect(await readConfig(file, LINUX)).toMatchObject({ keyFile: "/k" });
	await writeFile(file, `${text}# ${"x".repeat(20_000)}`);
	await expect(readConfig(file, LINUX)).rejects.toThrow(
		"larger than 16384 bytes",
	);
});

test("configure writes the file that the service reads, and keeps it if an installer has no properties", async () => {
	const file = join(await makeAgentFolder(), "new", "config");
	let starts = 0;
	const service = {
		name: "systemd",
		install: async () => {
			starts++;
			return [];
		},
	};
	await configure(
		{ server: "https://a.example", keyFile: "/k", ownerEmail: "" },
		file,
		service,
	);
	const none = { server: "", keyFile: "", ownerEmail: "", caFile: "" };
	await configure(none, file, service);
	expect(await readConfig(file, LINUX)).toEqual({
		serverUrl: "https://a.example",
		keyFile: "/k",
	});
	expect(starts).toBe(2);
	await expect(
		configure({ server: "https://a.example" }, file, service),
	).rejects.toThrow("--server and --key-file belong together");
});
