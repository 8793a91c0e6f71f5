import { randomInt } from "node:crypto";
import { type Command, InvalidArgumentError } from "commander";
import type { Counts } from "../../simulator/enroll.ts";
import { readConfig } from "../config/config.ts";
import { AppError } from "../errors.ts";
import { parseOrganizationId } from "../organizations/organization-store.ts";
import { parseUrl, requireApiToken } from "./call.ts";
import { print } from "./output.ts";
import { whenInterrupted } from "./until-signal.ts";

const MAX_DEVICES = 100_000;
const MAX_RATE = 10_000;
const MAX_SECONDS = 7 * 24 * 3600;
const MAX_SEED = 2 ** 31 - 1;
const PROGRESS_MS = 5_000;

interface Options {
	url?: URL;
	org: string;
	devices: number;
	rate: number;
	duration: number;
	seed?: number;
	drift: number;
	json?: boolean;
}

export function addSimulate(program: Command): void {
	program
		.command("simulate")
		.description(
			"Add simulated devices to an organization of a running service and let them report for some time, to try things out or to measure. They stay in the organization afterwards.",
		)
		.option("--url <url>", "address of the service (ASSAY_BASE_URL)", parseUrl)
		.requiredOption(
			"--org <id>",
			"id of the organization, preferably one created for the simulation",
		)
		.option(
			"--devices <count>",
			"number of devices",
			wholeNumber(1, MAX_DEVICES),
			50,
		)
		.option(
			"--rate <count>",
			"maximum number of requests a second",
			wholeNumber(1, MAX_RATE),
			50,
		)
		.option(
			"--duration <seconds>",
			"seconds that the devices report after all have enrolled",
			wholeNumber(0, MAX_SECONDS),
			60,
		)
		.option(
			"--seed <number>",
			"seed of the random choices; use a seed once in each organization, because it always makes the same devices (default: random)",
			wholeNumber(0, MAX_SEED),
		)
		.option(
			"--drift <percent>",
			"percentage of the checks that fail or recover within 20 minutes",
			wholeNumber(0, 100),
			1,
		)
		.option("--json", "print the result as JSON")
		.addHelpText(
			"after",
			`
The command needs the API token of an administrator in ASSAY_TOKEN. Ctrl-C ends it early.

Example:
  ASSAY_TOKEN=asy_pat_… assay simulate --org <id> --devices 200 --duration 600`,
		)
		.action(simulate);
}

async function simulate(options: Options): Promise<void> {
	const config = readConfig(process.env);
	const { token } = config;
	requireApiToken(
		token,
		"set ASSAY_TOKEN to the API token of an administrator; `assay api-token create` makes one",
	);
	const organizationId = parseOrganizationId(options.org);
	const url = options.url?.origin ?? config.baseUrl;
	const seed = options.seed ?? randomInt(MAX_SEED);
	const { enrollAll, makeCounts, Refused } = await import(
		"../../simulator/enroll.ts"
	);
	const { keepReporting } = await import("../../simulator/keep-reporting.ts");
	const { makeFleet } = await import("../../simulator/fleet.ts");
	const { makeServiceClient } = await import(
		"../../simulator/service-client.ts"
	);
	const { Pace } = await import("../../simulator/pace.ts");

	const counts = makeCounts();
	const client = makeServiceClient(url, organizationId, token);
	const fleet = makeFleet(seed, options.drift / 100);
	const pace = new Pace(options.rate);
	const stop = whenInterrupted();
	const begun = performance.now();
	say(`Simulating ${options.devices} devices at ${url}, seed ${seed}`);
	const progress = setInterval(() => say(describe(counts)), PROGRESS_MS);
	try {
		await enrollAll(fleet, client, options.devices, pace, stop, counts);
		if (counts.enrolled > 0) {
			const ended = AbortSignal.timeout(options.duration * 1000);
			const either = AbortSignal.any([stop, ended]);
			await keepReporting(fleet, client, pace, either, counts);
		}
	} catch (error) {
		if (!(error instanceof Refused)) throw error;
		throw new AppError("bad_request", error.message, { cause: error });
	} finally {
		clearInterval(progress);
	}
	const seconds = Math.round((performance.now() - begun) / 1000);
	print(
		options,
		{ seed, devices: options.devices, seconds, ...counts },
		`${describe(counts)}; ${seconds} s, seed ${seed}`,
	);
}

function describe(counts: Counts): string {
	const { enrolled, heartbeats, reports, conflicts, failed, revoked } = counts;
	return [
		`${enrolled} enrolled`,
		`${heartbeats} heartbeats`,
		`${reports} reports`,
		`${conflicts} rejected as duplicates`,
		`${failed} failed`,
		`${revoked} revoked`,
	].join(", ");
}

/** Writes a line to standard error, because standard output is for the result. */
function say(line: string): void {
	process.stderr.write(`${line}\n`);
}

/** Returns a parser for an option whose value is a whole number from `least` to `most`. */
export function wholeNumber(least: number, most: number) {
	return (text: string): number => {
		const number = Number(text);
		if (!/^\d+$/.test(text) || number < least || number > most) {
			throw new InvalidArgumentError(
				`Give a whole number from ${least} to ${most}.`,
			);
		}
		return number;
	};
}
