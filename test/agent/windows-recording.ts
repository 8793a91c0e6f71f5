import { powershellArgs } from "../../agent/checks/windows/powershell.ts";
import type { CommandResult } from "../../agent/host.ts";
import { type Recording, recordedHost } from "./recorded-host.ts";

/**
 * Makes a Windows device on which a script of the agent printed this object or text, or ended in
 * this way.
 */
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

/** PowerShell's identifiers of errors that make a part of a script fail. */
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
