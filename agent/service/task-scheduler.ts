import { mkdir, rm, writeFile } from "node:fs/promises";
import { join, win32 } from "node:path";
import { ask, integer, part } from "../checks/windows/powershell.ts";
import { LOG_NAME } from "../folder.ts";
import type { Host } from "../host.ts";
import {
	checkSpec,
	runOrThrow,
	type ServiceManager,
	type ServiceSpec,
	type ServiceState,
	tryRun,
} from "./manager.ts";
import { placeProgram, programFolder, removeProgram } from "./program.ts";
import { escapeXml } from "./xml.ts";

const TASK = "Assay Agent";

/** Reads the task's state as a number. `schtasks` would report it in the display language. */
export const TASK_STATE_SCRIPT = `
@{
  task = Read-Part { Get-CimInstance -Namespace root/Microsoft/Windows/TaskScheduler -ClassName MSFT_ScheduledTask -Filter "TaskName='Assay Agent'" |
    Where-Object { $_.TaskPath -eq '\\' } | ForEach-Object { @{ state = [int] $_.State } } }
}
`;
const RUNNING = 4;

export function taskScheduler(
	host: Host,
	programs: string = programFolder("win32"),
): ServiceManager {
	const state = async (): Promise<ServiceState> => {
		const asked = await ask(host, TASK_STATE_SCRIPT);
		const task = "answer" in asked ? part(asked.answer, "task") : undefined;
		if (task?.kind === "absent") return "not_installed";
		if (task?.kind !== "values") return "unknown";
		if (task.values.length === 0) return "not_installed";
		const number = integer(task.values[0]?.state);
		if (number === undefined) return "unknown";
		return number === RUNNING ? "running" : "stopped";
	};
	return {
		name: "Windows Task Scheduler",
		async install(spec) {
			checkSpec(spec);
			// The task is stopped first, because a running program cannot be replaced.
			await tryRun(host, "schtasks.exe", ["/End", "/TN", TASK]);
			const placed = await placeProgram(spec, programs);
			// A task has no console, so nothing would keep what the agent writes to it.
			const args = [...placed.args, "--log", win32.join(spec.folder, LOG_NAME)];
			await mkdir(programs, { recursive: true });
			const file = join(programs, "task.xml");
			try {
				// The scheduler only reads files in UTF-16 with a byte order mark.
				const xml = taskXml({ ...placed, args });
				await writeFile(file, `\uFEFF${xml}`, "utf16le");
				await runOrThrow(host, "schtasks.exe", [
					"/Create",
					"/F",
					"/TN",
					TASK,
					"/XML",
					file,
				]);
			} finally {
				await rm(file, { force: true });
			}
			await runOrThrow(host, "schtasks.exe", ["/Run", "/TN", TASK]);
			const names = Object.keys(spec.environment);
			return names.length === 0
				? []
				: [
						`The Task Scheduler does not pass on environment variables. Set ${names.join(", ")} as system variables and restart the device.`,
					];
		},
		async uninstall() {
			const notes: string[] = [];
			if ((await state()) === "not_installed") {
				notes.push(`There was no task "${TASK}".`);
			} else {
				await tryRun(host, "schtasks.exe", ["/End", "/TN", TASK]);
				await runOrThrow(host, "schtasks.exe", ["/Delete", "/F", "/TN", TASK]);
			}
			return [...notes, ...(await removeProgram(programs))];
		},
		state,
	};
}

/**
 * Returns a task that SYSTEM runs from the start of the device, without a time limit. If the task
 * ends for any reason, the second trigger starts it again within five minutes. While the task runs,
 * that trigger does nothing. `RestartOnFailure` alone would not suffice, because it only applies if
 * the program cannot be started.
 */
export function taskXml(spec: ServiceSpec): string {
	return `<?xml version="1.0" encoding="UTF-16"?>
<Task version="1.2" xmlns="http://schemas.microsoft.com/windows/2004/02/mit/task">
  <RegistrationInfo>
    <Author>Assay</Author>
    <Description>Checks this device and reports to Assay.</Description>
  </RegistrationInfo>
  <Triggers>
    <BootTrigger>
      <Enabled>true</Enabled>
    </BootTrigger>
    <TimeTrigger>
      <Repetition>
        <Interval>PT5M</Interval>
        <StopAtDurationEnd>false</StopAtDurationEnd>
      </Repetition>
      <StartBoundary>2020-01-01T00:00:00</StartBoundary>
      <Enabled>true</Enabled>
    </TimeTrigger>
  </Triggers>
  <Principals>
    <Principal id="Author">
      <UserId>S-1-5-18</UserId>
      <RunLevel>HighestAvailable</RunLevel>
    </Principal>
  </Principals>
  <Settings>
    <MultipleInstancesPolicy>IgnoreNew</MultipleInstancesPolicy>
    <DisallowStartIfOnBatteries>false</DisallowStartIfOnBatteries>
    <StopIfGoingOnBatteries>false</StopIfGoingOnBatteries>
    <AllowHardTerminate>true</AllowHardTerminate>
    <StartWhenAvailable>true</StartWhenAvailable>
    <RunOnlyIfNetworkAvailable>false</RunOnlyIfNetworkAvailable>
    <IdleSettings>
      <StopOnIdleEnd>false</StopOnIdleEnd>
      <RestartOnIdle>false</RestartOnIdle>
    </IdleSettings>
    <AllowStartOnDemand>true</AllowStartOnDemand>
    <Enabled>true</Enabled>
    <Hidden>true</Hidden>
    <RunOnlyIfIdle>false</RunOnlyIfIdle>
    <WakeToRun>false</WakeToRun>
    <ExecutionTimeLimit>PT0S</ExecutionTimeLimit>
    <Priority>7</Priority>
    <RestartOnFailure>
      <Interval>PT1M</Interval>
      <Count>3</Count>
    </RestartOnFailure>
  </Settings>
  <Actions Context="Author">
    <Exec>
      <Command>${escapeXml(spec.program)}</Command>
      <Arguments>${escapeXml(spec.args.map(quoteArgument).join(" "))}</Arguments>
    </Exec>
  </Actions>
</Task>
`;
}

/** Quotes an argument for programs on Windows, where a backslash is special only before a quote. */
export const quoteArgument = (text: string) =>
	/^[^\s"]+$/.test(text)
		? text
		: `"${text.split('"').map(doubleLastBackslashes).join('\\"')}"`;

function doubleLastBackslashes(text: string): string {
	let end = text.length;
	while (text[end - 1] === "\\") end--;
	return text + text.slice(end);
}
