import type { Finding } from "../../src/cli/doctor.ts";
import { runCommand } from "../support/command.ts";
import type { TestService } from "../support/service.ts";

/** The secret that `startService` and `startAssay` give to the service. */
export const SECRET = "what the sessions of the tests are signed with";

/** Runs the real command with these settings. Returns its findings and its exit code. */
export async function runDoctor(settings: Record<string, string>) {
	const { stdout, code } = await runCommand(["doctor", "--json"], settings);
	const { findings } = JSON.parse(stdout) as { findings: Finding[] };
	return { findings, code };
}

/** Lets doctor examine this service. Returns its findings by check, and its exit code. */
export async function examine(
	{ database, service }: TestService,
	settings: Record<string, string> = {},
) {
	const { findings, code } = await runDoctor({
		DATABASE_URL: database.url,
		ASSAY_SECRET: SECRET,
		ASSAY_BASE_URL: service.url,
		ASSAY_PORT: new URL(service.url).port,
		...settings,
	});
	return {
		code,
		of: (check: string) => findings.find((one) => one.check === check),
		others: (...checks: string[]) =>
			findings.filter(
				({ check, status }) =>
					status !== "ok" &&
					// It depends on the machine of the test.
					check !== "time synchronization" &&
					!checks.includes(check),
			),
	};
}
