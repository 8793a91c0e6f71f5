import type { Host } from "../../host.ts";
import type { Waiting } from "../../pending-updates.ts";

/**
 * Returns how many updates of macOS and Safari wait, and since when the agent has known the oldest.
 * macOS itself does not tell since when. `count` is what macOS says about their number.
 */
export async function findPendingUpdates(
	host: Host,
	settings: string,
	count: number | undefined,
): Promise<Waiting | undefined> {
	return host.pendingSince({
		async list() {
			const result = await host.run("plutil", [
				"-extract",
				"RecommendedUpdates",
				"json",
				"-o",
				"-",
				settings,
			]);
			if (result.ended !== "exited") return undefined;
			// There is no such list if nothing waits.
			if (result.exitCode !== 0) return count ? undefined : [];
			const updates = parseList(result.stdout);
			if (updates === undefined) return undefined;
			const { stdout } = await host.run("sw_vers", ["-buildVersion"]);
			const build = /^[A-Za-z0-9]{1,20}$/.exec(stdout.trim())?.[0] ?? "";
			return updates
				.map((update) => nameOf(update, build))
				.filter((name) => name !== undefined);
		},
	});
}

function parseList(text: string): unknown[] | undefined {
	try {
		const value: unknown = JSON.parse(text);
		return Array.isArray(value) ? value : undefined;
	} catch {
		return undefined;
	}
}

/**
 * Returns a name that stays the same until the Mac installs something. A newer update replaces one
 * that waits, so the name consists of the installed build and not of the update's version. An
 * upgrade to the next macOS may wait, because older versions still get security updates.
 */
function nameOf(update: unknown, build: string): string | undefined {
	if (typeof update !== "object" || update === null) return undefined;
	const product = String(
		Reflect.get(update, "Product Key") ?? Reflect.get(update, "Identifier"),
	);
	const title = String(Reflect.get(update, "Display Name"));
	if (product.startsWith("MSU_UPDATE_") && !product.endsWith("_major")) {
		return `macos after ${build}`;
	}
	const kind = /^(Safari|Security Update)\b/.exec(title)?.[1];
	return kind && `${kind} after ${build}`;
}
