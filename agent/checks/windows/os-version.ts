import type { Host } from "../../host.ts";
import { type CheckOutcome, fail, pass, unknown, word } from "../check.ts";
import { type Answer, ask, integer, part, text } from "./powershell.ts";
import {
	CLIENT_RELEASES,
	EXTENDED_BUILD,
	EXTENDED_YEARS,
	LAST_FREE_REVISION,
	LAST_SEMI_ANNUAL_SERVER,
	type Release,
	SERVER_RELEASES,
} from "./releases.ts";

/**
 * Reads the installed version. Listing licenses is slow, so the script asks for them by name and
 * only where they can matter.
 */
export const OS_VERSION_SCRIPT = `
$windows = Reg 'HKEY_LOCAL_MACHINE\\SOFTWARE\\Microsoft\\Windows NT\\CurrentVersion'
@{
  build = $windows.CurrentBuildNumber
  revision = $windows.UBR
  edition = $windows.EditionID
  installation = $windows.InstallationType
  licenses = $(if ($windows.CurrentBuildNumber -eq '19045') { Read-Part {
    Get-CimInstance -Query ('SELECT ID, LicenseStatus FROM SoftwareLicensingProduct WHERE ID=''f520e45e-7413-4a34-a497-d2765967d094'' OR ID=''1043add5-23b1-4afb-9a0f-64343c8f3f8d'' OR ID=''83d49986-add3-41d7-ba33-87c7bfb5c0fb''') |
      ForEach-Object { @{ id = [string] $_.ID; status = $_.LicenseStatus } }
  } } else { @{ values = @() } })
}
`;

const LICENSED = 1;

/**
 * Returns PASS while Microsoft provides updates for this build of this edition. Returns UNKNOWN if
 * the build is not in our table, for example because it is newer than the agent.
 */
export async function osVersion(host: Host): Promise<CheckOutcome> {
	const asked = await ask(host, OS_VERSION_SCRIPT);
	if ("trouble" in asked) return asked.trouble;
	const { answer } = asked;
	const build = integer(answer.build);
	const revision = integer(answer.revision);
	const edition = word(text(answer.edition));
	const installation = text(answer.installation);
	if (build === undefined || !edition || installation === undefined) {
		return unknown("unrecognized_output");
	}
	const today = host.now.toISOString().slice(0, 10);
	const system = {
		build,
		...(revision === undefined ? {} : { revision }),
		edition,
	};

	const support = installation.startsWith("Server")
		? serverSupport(build, edition)
		: clientSupport(build, edition);
	if (support === undefined) return unknown("unknown_build", system);
	const evidence = {
		...system,
		...(support.name ? { release: support.name } : {}),
		supported_until: support.until,
	};
	if (today <= support.until) return pass(evidence);
	if (build !== EXTENDED_BUILD) return fail(evidence);

	const extended = extendedUntil(answer);
	if (extended && today <= extended) {
		return pass({
			...evidence,
			supported_until: extended,
			extended_updates: true,
		});
	}
	// The device was enrolled in extended updates at some time, perhaps with a personal account. It
	// does not say whether it still is.
	return revision !== undefined && revision > LAST_FREE_REVISION
		? unknown("extended_updates_unconfirmed", evidence)
		: fail({ ...evidence, extended_updates: false });
}

function serverSupport(build: number, edition: string) {
	// Azure Local uses the builds of Windows Server but has a support calendar of its own.
	if (/AzureStackHCI/i.test(edition)) return undefined;
	const known = SERVER_RELEASES[build];
	if (known) return known;
	return build <= LAST_SEMI_ANNUAL_SERVER.build
		? { name: undefined, until: LAST_SEMI_ANNUAL_SERVER.until }
		: undefined;
}

function clientSupport(build: number, edition: string) {
	const release = CLIENT_RELEASES[build];
	const until = release && editionEnd(release, edition);
	return until ? { name: release.name, until } : undefined;
}

function editionEnd(release: Release, edition: string): string | undefined {
	if (/^IoTEnterpriseS/.test(edition)) {
		return release.iotLongTerm ?? release.longTerm;
	}
	if (/^EnterpriseS(N|Eval|NEval)?$/.test(edition)) return release.longTerm;
	const isBusiness =
		/^(Enterprise|Education|IoTEnterprise|ServerRdsh|IoTUAP)/.test(edition);
	return isBusiness ? release.business : release.home;
}

function extendedUntil(answer: Answer): string | undefined {
	const licenses = part(answer, "licenses");
	if (licenses.kind !== "values") return undefined;
	return licenses.values
		.filter((license) => integer(license.status) === LICENSED)
		.map((license) => EXTENDED_YEARS[text(license.id)?.toLowerCase() ?? ""])
		.filter((until) => until !== undefined)
		.sort()
		.at(-1);
}
