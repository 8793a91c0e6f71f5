import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, onTestFinished, test } from "vitest";
import { makeClient } from "../../agent/client.ts";
import { findSystemProxy, type SystemProxy } from "../../agent/system-proxy.ts";
import { recordedHost } from "./recorded-host.ts";

const SERVICE = "http://assay.invalid";

/** Starts a proxy that answers every request itself, as the service would. */
async function startProxy() {
	const asked: string[] = [];
	const answer: RequestListener = (request, response) => {
		asked.push(request.url ?? "");
		request.resume();
		response.writeHead(204).end();
	};
	const proxy = createServer(answer).listen(0, "127.0.0.1");
	await once(proxy, "listening");
	onTestFinished(() => {
		proxy.close();
	});
	const { port } = proxy.address() as AddressInfo;
	return { url: new URL(`http://127.0.0.1:${port}`), asked };
}

/** Makes a client whose system answers with these, one after the other. */
async function makeAsking(
	answers: SystemProxy[],
	environment: NodeJS.ProcessEnv = {},
) {
	let questions = 0;
	const client = await makeClient({
		serverUrl: SERVICE,
		platform: "DARWIN",
		environment,
		findProxy: async () =>
			answers[Math.min(questions++, answers.length - 1)] ?? {},
	});
	onTestFinished(() => client.rest());
	return {
		send: () => client.send("postures", { key: "asy_dev_key", body: {} }),
		questions: () => questions,
	};
}

describe("the client", () => {
	test("uses the system's proxy, and asks for it once while requests succeed", async () => {
		const proxy = await startProxy();
		const client = await makeAsking([{ proxy: proxy.url }]);
		for (let i = 0; i < 3; i++) expect((await client.send()).kind).toBe("ok");
		expect(proxy.asked[0]).toBe(`${SERVICE}/api/agent/v1/postures`);
		expect(client.questions()).toBe(1);
	});

	test("lets HTTPS_PROXY and NO_PROXY decide, if one of them is set", async () => {
		const proxy = await startProxy();
		for (const environment of [
			{ HTTP_PROXY: proxy.url.href },
			{ NO_PROXY: "example.com" },
		]) {
			const client = await makeAsking(
				[{ proxy: new URL("http://127.0.0.1:1") }],
				environment,
			);
			await client.send();
			expect(client.questions()).toBe(0);
		}
		expect(proxy.asked).toHaveLength(1);
	});

	test("says that the proxy comes from the system's settings if it is down, and does not ask again at once", async () => {
		const client = await makeAsking([{ proxy: new URL("http://127.0.0.1:1") }]);
		for (let i = 0; i < 3; i++) {
			expect(await client.send()).toMatchObject({
				kind: "trouble",
				reason:
					"nothing listens at the proxy's address (127.0.0.1:1); check the proxy in the system's settings",
			});
		}
		expect(client.questions()).toBe(1);
	});

	test("says why there is no connection if the system names only a script", async () => {
		const client = await makeAsking([{ note: "set HTTPS_PROXY" }]);
		expect(await client.send()).toMatchObject({
			kind: "trouble",
			reason: expect.stringMatching(/DNS .*; set HTTPS_PROXY$/),
		});
	});
});

const dictionary = (...lines: string[]) =>
	`<dictionary> {\n${lines.map((line) => `  ${line}\n`).join("")}}\n`;
const FIXED = [
	"HTTPEnable : 0",
	"HTTPSEnable : 1",
	"HTTPSPort : 3128",
	"HTTPSProxy : proxy.example.com",
];
const EXCEPTIONS = [
	"ExceptionsList : <array> {",
	"  0 : *.local",
	"  1 : assay.example.com",
	"}",
];

describe("the proxy in the settings of macOS", () => {
	const ask = (said: string, service = "https://assay.example.com") =>
		findSystemProxy(
			recordedHost({
				platform: "DARWIN",
				commands: { "scutil --proxy": said },
			}),
			new URL(service),
		);

	test.each([
		["a fixed proxy", dictionary(...FIXED), "http://proxy.example.com:3128/"],
		["no proxy", dictionary("FTPPassive : 1"), undefined],
		[
			"a proxy that is switched off",
			dictionary(...FIXED).replace("HTTPSEnable : 1", "HTTPSEnable : 0"),
			undefined,
		],
		["an exception", dictionary(...EXCEPTIONS, ...FIXED), undefined],
		[
			"an IPv6 address",
			dictionary(...FIXED).replace("proxy.example.com", "2001:db8::7"),
			"http://[2001:db8::7]:3128/",
		],
		["something else", "No such key\n", undefined],
		[
			"a port that is none",
			dictionary(...FIXED).replace("3128", "99999"),
			undefined,
		],
	])("%s", async (_, said, expected) => {
		const { proxy, note } = await ask(said);
		expect(proxy?.href).toBe(expected);
		expect(note).toBeUndefined();
	});

	test("an exception for another host does not count", async () => {
		const said = dictionary(...EXCEPTIONS, ...FIXED);
		const { proxy } = await ask(said, "https://notassay.example.com");
		expect(proxy?.host).toBe("proxy.example.com:3128");
	});

	test.each([
		"ProxyAutoConfigEnable : 1",
		"ProxyAutoDiscoveryEnable : 1",
	])("a script (%s) is not run, and the note says what to set", async (line) => {
		const { proxy, note } = await ask(dictionary(line));
		expect(proxy).toBeUndefined();
		expect(note).toContain("set HTTPS_PROXY");
		expect(note).toContain("proxies.json");
	});
});

describe("the proxy in the settings of Windows", () => {
	const ask = (said: string, service = "https://assay.example.com") => {
		const asked: string[] = [];
		const host = recordedHost({ platform: "WINDOWS" });
		const answering = {
			...host,
			run: async (program: string, args: readonly string[] = []) => {
				asked.push([program, ...args].join(" "));
				return {
					ended: "exited" as const,
					exitCode: 0,
					stdout: said,
					stderr: "",
				};
			},
		};
		return findSystemProxy(answering, new URL(service)).then((found) => ({
			...found,
			asked,
		}));
	};

	test.each([
		[
			"a proxy",
			"http://proxy.example.com:8080/\r\n",
			"http://proxy.example.com:8080/",
		],
		["a host that needs no proxy", "", undefined],
		["the service itself", "https://assay.example.com/\r\n", undefined],
		["no address", "Access denied\r\n", undefined],
		[
			"a proxy of another kind",
			"socks://proxy.example.com:1080/\r\n",
			undefined,
		],
	])("%s", async (_, said, expected) => {
		const { proxy, asked } = await ask(said);
		expect(proxy?.href).toBe(expected);
		expect(asked[0]).toContain("[Uri] 'https://assay.example.com/'");
	});

	test("a host name with signs that PowerShell interprets never becomes part of a script", async () => {
		const { asked } = await ask("", "https://a';calc;'.example.com");
		expect(asked).toEqual([]);
	});
});

test("Linux and FreeBSD have no such settings", async () => {
	for (const platform of ["LINUX", "FREEBSD"] as const) {
		const host = recordedHost({ platform });
		expect(await findSystemProxy(host, new URL(SERVICE))).toEqual({});
	}
});
