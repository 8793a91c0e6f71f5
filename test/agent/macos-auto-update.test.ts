import { macTable } from "./macos-table.ts";
import { type Change, commands } from "./recorded-table.ts";
import {
	DECLARED_UPDATES,
	FORCED_UPDATES,
	LAST_SEARCH,
	preferences,
	UPDATES,
} from "./recordings/macos.ts";

const chosen = (lines: string[], declared?: string): Change => {
	const { files, commands: said } = preferences(UPDATES, lines);
	return {
		files,
		commands: {
			...said,
			...(declared === undefined ? {} : { [DECLARED_UPDATES]: declared }),
		},
	};
};

macTable("AUTO_UPDATE", [
	[
		"all switched on",
		{},
		"PASS",
		{
			check: true,
			download: true,
			install: true,
			install_security: true,
			managed: false,
			pending_updates: 1,
			last_search_days: 1,
		},
	],
	[
		"no search that succeeded for 61 days",
		commands({ [LAST_SEARCH]: "2026-09-20T08:14:02Z\n" }),
		"FAIL",
		{
			check: true,
			download: true,
			install: true,
			install_security: true,
			managed: false,
			pending_updates: 1,
			last_search_days: 62,
			patches_current: false,
			overdue: "last_search_days",
		},
	],
	[
		"no date of a search",
		{ without: [LAST_SEARCH] },
		"UNKNOWN",
		{
			reason: "patch_age_not_known",
			check: true,
			download: true,
			install: true,
			install_security: true,
			managed: false,
			pending_updates: 1,
		},
	],
	[
		"installing switched off",
		chosen(["<key>AutomaticallyInstallMacOSUpdates</key>", "<false/>"]),
		"FAIL",
		{
			check: true,
			download: true,
			install: false,
			install_security: true,
			managed: false,
		},
	],
	[
		"switched on but never looked for, written as a number",
		chosen([
			"<key>AutomaticCheckEnabled</key>",
			"<integer>0</integer>",
			"<key>AutomaticallyInstallMacOSUpdates</key>",
			"<integer>1</integer>",
		]),
		"FAIL",
		{
			check: false,
			download: true,
			install: true,
			install_security: true,
			managed: false,
		},
	],
	[
		"nothing chosen",
		{ without: [UPDATES] },
		"UNKNOWN",
		{
			reason: "not_configured",
			check: true,
			download: true,
			install_security: true,
			managed: false,
		},
	],
	[
		"a profile that replaces the owner's choice",
		{
			files: preferences(FORCED_UPDATES, []).files,
			commands: preferences(FORCED_UPDATES, [
				"<key>AutomaticallyInstallMacOSUpdates</key>",
				"<false/>",
			]).commands,
		},
		"FAIL",
		{
			check: true,
			download: true,
			install: false,
			install_security: true,
			managed: true,
			pending_updates: 1,
		},
	],
	[
		"a declaration that forces them on",
		chosen(
			["<key>AutomaticallyInstallMacOSUpdates</key>", "<false/>"],
			'{"automaticallyDownload":1,"automaticallyInstallOSUpdates":1,"automaticallyInstallSystemAndSecurityUpdates":1}',
		),
		"PASS",
		{
			check: true,
			download: true,
			install: true,
			install_security: true,
			managed: true,
			last_search_days: 1,
		},
	],
	[
		"a declaration that leaves it to the owner",
		chosen(
			["<key>AutomaticallyInstallMacOSUpdates</key>", "<true/>"],
			'{"automaticallyInstallOSUpdates":0,"minorOSDeferralPeriod":7}',
		),
		"PASS",
		{
			check: true,
			download: true,
			install: true,
			install_security: true,
			managed: false,
			last_search_days: 1,
		},
	],
	[
		"a file that plutil cannot read",
		commands({
			[`plutil -convert xml1 -o - ${UPDATES}`]: {
				exitCode: 1,
				stdout: `${UPDATES}: Property List error: Unexpected character b at line 1\n`,
			},
		}),
		"UNKNOWN",
		{ reason: "command_failed" },
	],
]);
