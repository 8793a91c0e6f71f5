import fc from "fast-check";
import { CHECK_KEYS } from "../../src/devices/terms.ts";
import { withBody } from "./operations.ts";
import type { Body, Case, Target } from "./target.ts";
import {
	hostile,
	json,
	ofKind,
	orStrange,
	spoil,
	strangeValue,
	text,
} from "./values.ts";

const HEARTBEAT = {
	hardware_uuid: orStrange(fc.uuid()),
	hostname: orStrange(text),
	platform: orStrange(fc.constantFrom("DARWIN", "LINUX", "FREEBSD", "WINDOWS")),
	os_version: orStrange(text),
	agent_version: orStrange(text),
	serial_number: orStrange(text),
};
const REQUIRED: Exclude<keyof typeof HEARTBEAT, "serial_number">[] = [
	"hardware_uuid",
	"hostname",
	"platform",
	"os_version",
	"agent_version",
];

/**
 * Returns cases for the Device Agent API. `unenroll` is rare, because each success uses up a key.
 */
export function agentCases(target: Target): fc.Arbitrary<Case> {
	const time = fc.oneof(
		fc.date({ noInvalidDate: true }).map((date) => date.toISOString()),
		fc.constantFrom(
			"2026-03-31T08:00:00.123456789+14:00",
			"9999-12-31T23:59:60-23:59",
			"0000-01-01T00:00:00Z",
			"2026-02-30T00:00:00Z",
		),
	);
	const result = fc.record(
		{
			check_key: orStrange(fc.oneof(fc.constantFrom(...CHECK_KEYS), text)),
			status: orStrange(
				fc.constantFrom("PASS", "FAIL", "UNKNOWN", "NOT_APPLICABLE"),
			),
			observed_at: orStrange(time),
			evidence: orStrange(fc.dictionary(text, fc.jsonValue({ maxDepth: 2 }))),
			correlation_id: orStrange(
				fc.constantFrom<unknown>(null, "", ...target.ids.slice(0, 20)),
			),
		},
		{ requiredKeys: ["check_key", "status", "observed_at"] },
	);
	const keys = fc
		.constantFrom(...target.keys)
		.map((key) => ({ authorization: `Bearer ${key}` }));
	const at = (
		route: string,
		good: fc.Arbitrary<unknown>,
		spoilt: fc.Arbitrary<Body>,
	) => {
		const rest = {
			name: fc.constant(`agent ${route}`),
			method: fc.constantFrom("POST", "POST", "POST", "POST", "GET", "DELETE"),
			path: fc.constant(`/api/agent/v1/${route}`),
			headers: keys,
		};
		const noText = fc.uint8Array({ maxLength: 300 });
		return fc.oneof(
			{
				weight: 12,
				arbitrary: withBody(ofKind("nearly", good.map(json)), rest),
			},
			{ weight: 3, arbitrary: withBody(spoilt, rest) },
			{ weight: 1, arbitrary: withBody(hostile, rest) },
			{
				weight: 1,
				arbitrary: fc.record({
					...rest,
					kind: fc.constant("random bytes"),
					body: noText,
				}),
			},
		);
	};
	const enroll = fc.record({ token: orStrange(text) });
	const heartbeat = fc.record(HEARTBEAT, { requiredKeys: REQUIRED });
	const postures = fc.record({
		results: orStrange(fc.array(orStrange(result), { maxLength: 5 })),
	});
	// `spoil` changes a value in one result, and the array stays valid, so that the case reaches the
	// code for evidence.
	const badResult = spoil(result, ["evidence", "evidence", "check_key"]).map(
		({ kind, text }) => ({ kind, text: `{"results":[${text}]}` }),
	);
	return fc.oneof(
		{ weight: 2, arbitrary: at("enroll", enroll, spoil(enroll, ["token"])) },
		{
			weight: 8,
			arbitrary: at("heartbeat", heartbeat, spoil(heartbeat, REQUIRED)),
		},
		{ weight: 12, arbitrary: at("postures", postures, badResult) },
		{ weight: 1, arbitrary: at("unenroll", strangeValue, hostile) },
	);
}
