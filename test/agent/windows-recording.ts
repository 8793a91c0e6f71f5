import { powershellArgs } from "../../agent/checks/windows/powershell.ts";
import type { CommandResult } from "../../agent/host.ts";
import { type Recording, recordedHost } from "./recorded-host.ts";

/** A Windows on which a script of the agent printed an object or a text, or ended like this. */
export const windowsHost = (
	script: string,
	printed: object | string | { result: Partial<CommandResult> },
	rest: Omit<Recording, "platform"> = {},
) =>
	recordedHost({
		...rest,
		platform: "WINDOWS",
		commands: {
			...rest.commands,
			[["powershell.exe", ...powershellArgs(script)].join(" ")]:
				typeof printed === "string"
					? printed
					: isResult(printed)
						? printed.result
						: `${JSON.stringify(printed)}\r\n`,
		},
	});

const isResult = (
	printed: object,
): printed is { result: Partial<CommandResult> } => "result" in printed;

/** PowerShell's identifiers of the errors with which a part of a script fails. */
export const CIM_DENIED = {
	error:
		"HRESULT 0x80041003,Microsoft.Management.Infrastructure.CimCmdlets.GetCimInstanceCommand",
};
export const NO_NAMESPACE = {
	error:
		"HRESULT 0x8004100e,Microsoft.Management.Infrastructure.CimCmdlets.GetCimInstanceCommand",
};
export const NO_SERVICE = {
	error:
		"NoServiceFoundForGivenName,Microsoft.PowerShell.Commands.GetServiceCommand",
};
export const NO_EVENT = {
	error:
		"NoMatchingEventsFound,Microsoft.PowerShell.Commands.GetWinEventCommand",
};
export const values = (...list: unknown[]) => ({ values: list });
