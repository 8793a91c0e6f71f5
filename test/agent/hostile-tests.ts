import { describe, expect, test } from "vitest";
import type { PlatformChecks } from "../../agent/checks/check.ts";
import { runChecks } from "../../agent/checks/run-checks.ts";
import type { Host } from "../../agent/host.ts";
import { HOSTILE_TEXTS, MARKER, sayingAlso, sayingOnly } from "./hostile.ts";
import { type Recording, recordedHost } from "./recorded-host.ts";

/**
 * One platform of the agent, with one device on which its checks pass and one on which they fail.
 */
interface System {
	checks: PlatformChecks;
	/**
	 * Returns the facts. It may leave out a text that the agent reports exactly as the device shows
	 * it.
	 */
	findFacts: (host: Host) => Promise<object>;
	good: Recording;
	bad: Recording;
}

/**
 * Makes tests that hostile output never makes a check of a platform pass, appears in its evidence
 * or crashes it.
 */
export function testHostileOutput({ checks, findFacts, good, bad }: System) {
	describe("hostile output", () => {
		test("every check of the platform passes on one recording and fails on the other", async () => {
			const statuses = async (recording: Recording) =>
				(await collect(recording)).map(({ check_key, status }) => [
					check_key,
					status,
				]);
			const all = (status: string) =>
				Object.keys(checks).map((key) => [key, status]);
			expect(await statuses(good)).toEqual(all("PASS"));
			expect(await statuses(bad)).toEqual(all("FAIL"));
		});

		test.each(
			Object.entries(HOSTILE_TEXTS),
		)("%s: no check passes, quotes the text or crashes", async (_, text) => {
			for (const recording of [
				sayingOnly(good, text),
				...sayingAlso(bad, text),
			]) {
				for (const { status } of await collect(recording)) {
					expect(status).not.toBe("PASS");
				}
			}
			for (const recording of sayingAlso(good, text)) await collect(recording);
		});
	});

	/**
	 * Returns the results of the platform's checks. Expects that none crashes, quotes the marker or
	 * has large evidence.
	 */
	async function collect(recording: Recording) {
		const crashed: string[] = [];
		const results = await runChecks(checks, recordedHost(recording), {
			onCrash: (key) => crashed.push(key),
		});
		expect(crashed).toEqual([]);
		const json = JSON.stringify(results.map(({ evidence }) => evidence));
		expect(json).not.toContain(MARKER);
		expect(json.length).toBeLessThan(4096);
		const facts = await findFacts(recordedHost(recording));
		expect(JSON.stringify(facts)).not.toContain(MARKER);
		return results.filter(({ check_key }) => check_key in checks);
	}
}
