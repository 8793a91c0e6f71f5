import { expect, test } from "vitest";
import {
	type Check,
	type PlatformChecks,
	pass,
} from "../../agent/checks/check.ts";
import {
	boundEvidence,
	loadChecks,
	runChecks,
} from "../../agent/checks/run-checks.ts";
import { CHECK_KEYS, PLATFORMS } from "../../src/devices/terms.ts";
import { recordedHost } from "./recorded-host.ts";

const host = recordedHost({ platform: "LINUX" });

/** Returns checks that all pass, except for those in `others`. */
function checksWith(others: PlatformChecks): PlatformChecks {
	return Object.fromEntries(
		CHECK_KEYS.map((key) => [key, others[key] ?? (async () => pass({}))]),
	);
}

test.each(
	PLATFORMS,
)("%s has checks, all of them canonical", async (platform) => {
	const keys = Object.keys(await loadChecks(platform));
	expect(keys).not.toEqual([]);
	expect(CHECK_KEYS).toEqual(expect.arrayContaining(keys));
});

test("a check that the platform does not have is NOT_APPLICABLE, with the reason", async () => {
	const { SCREEN_LOCK: _, ...others } = checksWith({});
	const results = await runChecks(others, host);
	expect(results.map(({ check_key }) => check_key)).toEqual(CHECK_KEYS);
	expect(results.filter(({ status }) => status !== "PASS")).toEqual([
		{
			check_key: "SCREEN_LOCK",
			status: "NOT_APPLICABLE",
			evidence: { reason: "not_checked_here" },
			observed_at: "2026-11-21T12:00:00.000Z",
		},
	]);
});

test("the checks run one after the other, always in the same order, each with its time", async () => {
	let running = 0;
	const check: Check = async () => {
		expect(++running).toBe(1);
		await new Promise((resolve) => setTimeout(resolve, 2));
		running--;
		return pass({});
	};
	const all = Object.fromEntries(CHECK_KEYS.map((key) => [key, check]));
	const results = await runChecks(all, host);
	expect(results.map(({ check_key }) => check_key)).toEqual(CHECK_KEYS);
	expect(results.filter(({ status }) => status !== "PASS")).toEqual([]);
	expect(results[0]?.observed_at).toBe("2026-11-21T12:00:00.000Z");
});

test("a check that crashes is UNKNOWN without the text of the error, and the others continue", async () => {
	const crashed: string[] = [];
	const results = await runChecks(
		checksWith({
			SCREEN_LOCK: async () => {
				throw new Error("S3CRET");
			},
			// This check throws before its first await.
			TIME_SYNC: (() => {
				throw new Error("S3CRET");
			}) as Check,
			FIREWALL_ENABLED: (async () => undefined) as unknown as Check,
			OS_VERSION: (async () => ({
				status: "FINE",
				evidence: {},
			})) as unknown as Check,
		}),
		host,
		{ onCrash: (key) => crashed.push(key) },
	);
	const wrong = results.filter(({ status }) => status !== "PASS");
	expect(wrong.map(({ check_key }) => check_key)).toEqual(crashed);
	expect(crashed).toHaveLength(4);
	for (const { status, evidence } of wrong) {
		expect([status, evidence]).toEqual([
			"UNKNOWN",
			{ reason: "check_crashed" },
		]);
	}
	expect(results).toHaveLength(CHECK_KEYS.length);
});

test("a check that does not end is UNKNOWN and runs no more programs on the device", async () => {
	let later: Promise<unknown> | undefined;
	const check: Check = async (own) => {
		const until = new Promise((resolve) => setTimeout(resolve, 100));
		later = until.then(() => own.run("ufw"));
		await later;
		return pass({});
	};
	const results = await runChecks(
		checksWith({ FIREWALL_ENABLED: check }),
		host,
		{
			timeoutMs: 10,
		},
	);
	expect(
		results.find(({ check_key }) => check_key === "FIREWALL_ENABLED"),
	).toMatchObject({
		status: "UNKNOWN",
		evidence: { reason: "timed_out" },
	});
	expect(await later).toMatchObject({ ended: "timed_out" });
});

test("a stop leaves out the running check and all after it", async () => {
	const stop = new AbortController();
	const check: Check = async () => {
		stop.abort();
		await new Promise(() => {});
		return pass({});
	};
	const results = await runChecks(checksWith({ SCREEN_LOCK: check }), host, {
		signal: stop.signal,
	});
	expect(results.map(({ check_key }) => check_key)).toEqual([
		"DISK_ENCRYPTION",
	]);
});

const circle: Record<string, unknown> = {};
circle.self = circle;
const hostile: [string, Record<string, unknown>][] = [
	["a long text", { text: "x".repeat(1e6) }],
	[
		"many fields",
		Object.fromEntries(Array.from({ length: 5000 }, (_, i) => [`f${i}`, i])),
	],
	[
		"many long texts",
		Object.fromEntries(
			Array.from({ length: 40 }, (_, i) => [`f${i}`, "é".repeat(200)]),
		),
	],
	["a long list", { list: Array.from({ length: 1e5 }, (_, i) => i) }],
	["depth", { a: { b: { c: { d: { e: { f: 1 } } } } } }],
	["a circle", circle],
	["control characters", { "a\u0000\u001b[2J": "b\u0000\r\n\u0007\u009b" }],
	["lone surrogates", { text: "\ud800 \udfff" }],
	[
		"values that JSON cannot express",
		{ a: Number.NaN, b: undefined, c: () => 1, d: 10n, e: Symbol("x") },
	],
];
test.each(hostile)("evidence with %s is bounded", (_, evidence) => {
	const json = JSON.stringify(boundEvidence(evidence));
	expect(Buffer.byteLength(json)).toBeLessThanOrEqual(4096);
	expect(json).not.toMatch(/\\u00[01]|\\u007f|\\ud[89a-f]|\p{Cc}/u);
	expect(json.match(/[{[]/g)?.length ?? 0).toBeLessThanOrEqual(5);
});

test("ordinary evidence is not changed, and evidence that is cut off says so", () => {
	const evidence = {
		engine: "ufw",
		ports: [22, 80],
		rules: { input: "drop" },
		on: true,
	};
	expect(boundEvidence(evidence)).toEqual(evidence);
	const many = Object.fromEntries(
		Array.from({ length: 40 }, (_, i) => [`f${i}`, "x".repeat(200)]),
	);
	expect(boundEvidence(many)).toMatchObject({
		truncated: true,
		f0: "x".repeat(200),
	});
});

test("evidence about many volumes keeps the list of those that are not encrypted, and says that it was cut", () => {
	const volumes = (encrypted: unknown) =>
		Object.fromEntries(
			Array.from({ length: 45 }, (_, i) => [`other_${i}_encrypted`, encrypted]),
		);
	const rest = { methods: ["zfs"], unencrypted: ["other_44"] };
	for (const encrypted of [true, "unknown"]) {
		const bounded = boundEvidence({ ...volumes(encrypted), ...rest });
		expect(bounded).toMatchObject({ ...rest, truncated: true });
		expect(bounded).toHaveProperty("other_0_encrypted", encrypted);
		expect(Object.keys(bounded)).toHaveLength(41);
	}
	const long = { ...volumes("x".repeat(200)), ...rest };
	expect(boundEvidence(long)).toMatchObject({ ...rest, truncated: true });
});

test.each([
	["list", { list: Array.from({ length: 41 }, (_, i) => i) }],
	["inner level", { inner: Object.fromEntries([...Array(41).entries()]) }],
	["text", { text: "x".repeat(201) }],
	["level", { a: { b: { c: { d: { e: 1 } } } } }],
])("evidence with a %s that is cut off says so", (_, evidence) => {
	expect(boundEvidence(evidence)).toHaveProperty("truncated", true);
});
