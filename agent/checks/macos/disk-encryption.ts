import type { Host } from "../../host.ts";
import { type CheckOutcome, fail, pass, unknown } from "../check.ts";
import { whyFailed } from "../failed-command.ts";

/**
 * Checks FileVault on the startup disk with `fdesetup status`, which does not need root. If
 * FileVault is off, the result is FAIL even on Apple silicon, where the disk is always encrypted
 * but opens without a password (CIS macOS 2.6.6, mSCP `system_settings_filevault_enforce`). A disk
 * that is still being encrypted is UNKNOWN, and a disk that is being decrypted is FAIL.
 */
export async function checkDiskEncryption(host: Host): Promise<CheckOutcome> {
	const result = await host.run("fdesetup", ["status"]);
	// The command reports some states with a nonzero exit code, so its output is examined before the
	// exit code.
	const says = (pattern: RegExp) => pattern.test(result.stdout);
	const percent = percentDone(result.stdout);
	const evidence = { engine: "filevault", ...percent };

	if (says(/^Decryption in progress\b/m))
		return fail({ ...evidence, state: "decrypting" });
	if (says(/^Encryption in progress\b/m)) {
		return unknown("encryption_in_progress", {
			...evidence,
			state: "encrypting",
		});
	}
	if (says(/^FileVault is On\.[ \t]*$/m))
		return pass({ ...evidence, state: "on" });
	if (says(/^FileVault is On, but needs to be restarted to finish\.[ \t]*$/m)) {
		return unknown("restart_pending", {
			...evidence,
			state: "on_after_restart",
		});
	}
	if (says(/^FileVault is Off[.,]/m)) {
		const deferred = says(
			/^Deferred enablement appears to be active\b|^FileVault is Off, but will be enabled\b/m,
		);
		return fail({
			...evidence,
			state: "off",
			...(deferred ? { deferred: true } : {}),
		});
	}
	return unknown(whyFailed(result, host) ?? "unrecognized_output");
}

/** Reads the progress from a line such as "Encryption in progress: Percent completed = 42.10". */
function percentDone(output: string): { percent_done?: number } {
	const [, percent] =
		/\bpercent completed = (\d{1,3})(?:\.\d+)?\s*$/im.exec(output) ?? [];
	return percent === undefined ? {} : { percent_done: Number(percent) };
}
