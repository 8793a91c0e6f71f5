import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { makeId } from "../../src/id.ts";
import { anyUnicode } from "../support/any-unicode.ts";
import {
	heartbeatBody,
	startService,
	type TestService,
} from "../support/service.ts";

let assay: TestService;
beforeAll(async () => {
	assay = await startService();
});
afterAll(() => assay.close());

// The bodies are generated as JSON text, because no JavaScript value becomes 1e400 or two equal
// keys.

/**
 * Generates any UTF-16 text, including lone surrogates and U+0000, written by JSON.stringify or as
 * raw escapes.
 */
const anyText = fc.oneof(
	anyUnicode({ maxLength: 12 }),
	fc
		.array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 8 })
		.map((units) => String.fromCharCode(...units)),
	fc.constantFrom(
		"",
		"\0",
		"\ud800",
		"\\u0000",
		"NULL",
		"{}",
		'"',
		"\\",
		"x".repeat(3000),
	),
);
const stringText = anyText.map((text) => JSON.stringify(text));
const escapedText = fc
	.array(
		fc.constantFrom(
			"\\u0000",
			"\\ud800",
			"\\uDC00",
			"\\\\",
			"\\n",
			"a",
			"u0000",
		),
		{ maxLength: 6 },
	)
	.map((parts) => `"${parts.join("")}"`);
const flat = fc.oneof(
	stringText,
	escapedText,
	fc.constantFrom(
		"null",
		"true",
		"false",
		"1e400",
		"-1e400",
		"1e-400",
		"-0",
		"12345678901234567890",
	),
	fc.double({ noNaN: true, noDefaultInfinity: true }).map(String),
	fc.integer().map(String),
);
const deep = fc.oneof(
	fc.constantFrom(2, 50, 200, 5000).map((n) => "[".repeat(n) + "]".repeat(n)),
	fc
		.constantFrom(2, 50, 200, 3000)
		.map((n) => `${'{"a":'.repeat(n)}1${"}".repeat(n)}`),
);
const scalar = fc.oneof(
	{ weight: 40, arbitrary: flat },
	{ weight: 1, arbitrary: deep },
);
const strangeKey = fc.oneof(
	stringText,
	escapedText,
	fc.constantFrom('"__proto__"', '"constructor"', '"toString"', '"length"'),
);
const objectOf = (key: fc.Arbitrary<string>, value: fc.Arbitrary<string>) =>
	fc
		.array(fc.tuple(key, value), { maxLength: 5 })
		.map((pairs) => `{${pairs.map((pair) => pair.join(":")).join(",")}}`);
const { any } = fc.letrec<{ any: string }>((tie) => ({
	any: fc.oneof(
		{ maxDepth: 4, withCrossShrink: true },
		scalar,
		fc
			.array(tie("any"), { maxLength: 5 })
			.map((values) => `[${values.join(",")}]`),
		objectOf(strangeKey, tie("any")),
	),
}));

/**
 * Generates an object with the known fields. Most values are valid, and some are random, missing or
 * repeated.
 */
function objectNear(
	good: Record<string, fc.Arbitrary<string>>,
): fc.Arbitrary<string> {
	const fields = Object.entries(good).map(([name, value]) =>
		fc
			.oneof(
				{ weight: 12, arbitrary: value },
				{ weight: 1, arbitrary: any },
				{ weight: 1, arbitrary: fc.constant("") },
			)
			.map((text) => (text === "" ? [] : [`${JSON.stringify(name)}:${text}`])),
	);
	const more = fc.array(
		fc.tuple(strangeKey, any).map((pair) => pair.join(":")),
		{ maxLength: 1 },
	);
	return fc
		.tuple(...fields, more)
		.map((parts) => `{${parts.flat().join(",")}}`);
}

const nonEmpty = fc
	.oneof(stringText, escapedText)
	.filter((text) => text !== '""');
const quoted = (...texts: string[]) =>
	fc.constantFrom(...texts.map((text) => JSON.stringify(text)));

const heartbeat = objectNear({
	hardware_uuid: nonEmpty,
	hostname: nonEmpty,
	platform: quoted("DARWIN", "LINUX", "FREEBSD", "WINDOWS"),
	os_version: nonEmpty,
	agent_version: nonEmpty,
	serial_number: fc.oneof(stringText, fc.constant("null")),
});

const time = fc.oneof(
	fc
		.date({
			min: new Date("0001-01-01"),
			max: new Date("9999-12-31"),
			noInvalidDate: true,
		})
		.map((date) => JSON.stringify(date)),
	quoted(
		"2026-03-31T08:00:00.123456789+14:00",
		"0000-01-01T00:00:00Z",
		"9999-12-31T23:59:60-23:59",
	),
);

/**
 * Generates bodies of posture requests. It is a function, because the organization is known only
 * while the tests run.
 */
const postures = () => {
	const ids = Array.from({ length: 3 }, () =>
		makeId(assay.organizationId, "device_posture_report"),
	);
	const result = objectNear({
		check_key: fc.oneof(nonEmpty, quoted("FIREWALL_ENABLED", "SCREEN_LOCK")),
		status: quoted("PASS", "FAIL", "UNKNOWN", "NOT_APPLICABLE"),
		observed_at: time,
		evidence: fc.oneof(objectOf(strangeKey, any), fc.constant("null")),
		correlation_id: fc.oneof(quoted(...ids, ""), fc.constant("null")),
	});
	return fc.oneof(
		{
			weight: 5,
			arbitrary: fc
				.array(result, { maxLength: 4 })
				.map((all) => `{"results":[${all.join(",")}]}`),
		},
		{ weight: 1, arbitrary: objectNear({ results: any }) },
	);
};

const anyBytes = fc.oneof(
	fc.uint8Array({ maxLength: 200 }),
	// Valid JSON in which some bytes have been overwritten is another kind of body.
	fc
		.tuple(
			fc.constantFrom(
				JSON.stringify(heartbeatBody()),
				'{"results":[{"check_key":"A","status":"PASS","observed_at":"2026-03-31T08:00:00Z","evidence":{"a":"b"}}]}',
				'{"token":"x"}',
			),
			fc.array(fc.tuple(fc.nat(), fc.integer({ min: 0, max: 255 })), {
				maxLength: 3,
			}),
		)
		.map(([text, changes]) => {
			const bytes = new TextEncoder().encode(text);
			for (const [at, byte] of changes) bytes[at % bytes.length] = byte;
			return bytes;
		}),
);

async function expectOwnStatus(answer: Response, ...allowed: number[]) {
	const text = await answer.text();
	if (!allowed.includes(answer.status)) {
		throw new Error(`${answer.status} ${text}`);
	}
}

async function countStored() {
	const { rows } = await assay.database.owner.query<{
		results: number;
		reports: number;
		spans: string;
	}>(
		`select
			(select coalesce(sum(jsonb_array_length(results)), 0)::int from posture_reports) as results,
			(select count(*)::int from posture_reports) as reports,
			(select coalesce(md5(string_agg(s::text, '' order by s::text)), '') from posture_spans s) as spans`,
	);
	return rows[0] as { results: number; reports: number; spans: string };
}

describe("no JSON body causes an internal error", () => {
	test("enroll: 400 or 401", async () => {
		const body = fc.oneof(any, objectNear({ token: nonEmpty }));
		await fc.assert(
			fc.asyncProperty(body, async (text) => {
				await expectOwnStatus(await assay.post("enroll", text), 400, 401);
			}),
			{ numRuns: 75 },
		);
	});

	test("heartbeat of an ACTIVE device: 200 or 400", async () => {
		const { key } = await assay.activateDevice();
		await fc.assert(
			fc.asyncProperty(fc.oneof(any, heartbeat), async (text) => {
				await expectOwnStatus(
					await assay.post("heartbeat", text, { key }),
					200,
					400,
				);
			}),
			{ numRuns: 75 },
		);
	});

	test("the first heartbeat: 200 and the device is ACTIVE, or 400 and it is PENDING", async () => {
		await fc.assert(
			fc.asyncProperty(heartbeat, async (text) => {
				const { id, key } = await assay.enrollDevice();
				const answer = await assay.post("heartbeat", text, { key });
				await expectOwnStatus(answer, 200, 400);
				const { rows } = await assay.database.owner.query(
					"select status from devices where id = $1",
					[id],
				);
				expect(rows).toEqual([
					{ status: answer.status === 200 ? "ACTIVE" : "PENDING" },
				]);
			}),
			{ numRuns: 50 },
		);
	});

	test("unenroll: 204 and the key is invalid, or 400 and it still works", async () => {
		let { key } = await assay.activateDevice();
		await fc.assert(
			fc.asyncProperty(any, async (text) => {
				const answer = await assay.post("unenroll", text, { key });
				await expectOwnStatus(answer, 204, 400);
				const gone = answer.status === 204;
				const next = await assay.post("postures", { results: [] }, { key });
				await expectOwnStatus(next, gone ? 401 : 204);
				if (gone) ({ key } = await assay.activateDevice());
			}),
			{ numRuns: 50 },
		);
	});

	test("postures: 204 and every result is stored once, or 400 and nothing is stored", async () => {
		let { key } = await assay.activateDevice();
		let before = await countStored();
		let accepted = 0;
		await fc.assert(
			fc.asyncProperty(
				fc.oneof(
					{ weight: 1, arbitrary: any },
					{ weight: 6, arbitrary: postures() },
				),
				async (text) => {
					const answer = await assay.post("postures", text, { key });
					await expectOwnStatus(answer, 204, 400);
					const after = await countStored();
					if (answer.status === 400) {
						expect(after).toEqual(before);
					} else {
						const { results } = JSON.parse(text) as { results: unknown[] };
						expect(after.results - before.results).toBe(results.length);
						if (results.length > 0) accepted++;
						// Each request gets its own device, so that no report id repeats an earlier one.
						({ key } = await assay.activateDevice());
					}
					before = after;
				},
			),
			{ numRuns: 100 },
		);
		// Without this check, a service that rejects everything would pass too.
		expect(accepted).toBeGreaterThan(0);
	});

	test("postures: an accepted request that is sent again changes nothing", async () => {
		const { key } = await assay.activateDevice();
		let accepted = 0;
		const id = () => makeId(assay.organizationId, "device_posture_report");
		await fc.assert(
			fc.asyncProperty(
				fc.array(
					fc.tuple(
						nonEmpty,
						time,
						quoted("PASS", "FAIL"),
						objectOf(strangeKey, any),
					),
					{ minLength: 1, maxLength: 4 },
				),
				async (results) => {
					const report = id();
					const text = `{"results":[${results
						.map(
							([check, at, status, evidence]) =>
								`{"check_key":${check},"observed_at":${at},"status":${status},"evidence":${evidence},"correlation_id":"${report}"}`,
						)
						.join(",")}]}`;
					const first = await assay.post("postures", text, { key });
					await expectOwnStatus(first, 204, 400);
					if (first.status === 204) accepted++;
					const before = await countStored();
					await expectOwnStatus(
						await assay.post("postures", text, { key }),
						204,
						400,
					);
					expect(await countStored()).toEqual(before);
				},
			),
			{ numRuns: 37 },
		);
		expect(accepted).toBeGreaterThan(0);
	});
});

test("no body of any bytes causes an internal error", async () => {
	let { key } = await assay.activateDevice();
	await fc.assert(
		fc.asyncProperty(
			fc.constantFrom("enroll", "heartbeat", "postures", "unenroll"),
			anyBytes,
			async (route, bytes) => {
				const answer = await assay.post(route, bytes, { key });
				await expectOwnStatus(
					answer,
					200,
					204,
					400,
					...(route === "enroll" ? [401] : []),
				);
				if (route === "unenroll" && answer.status === 204) {
					({ key } = await assay.activateDevice());
				}
			},
		),
		{ numRuns: 125 },
	);
});
