import { Code, Stack, Text, Title } from "@mantine/core";
import type { Platform } from "../../../../src/devices/terms.ts";
import { COMMAND } from "../../command.ts";
import { Copied, CopyField, SecretOnce } from "../../parts/copy-field.tsx";
import { isLocal } from "../../parts/local-address.ts";
import { LocalAddressNote } from "../../parts/local-address-note.tsx";
import type { SaveOnce } from "../../parts/save-once.tsx";
import { DateTime } from "../../parts/time.tsx";
import { AgentDownloads } from "./agent-downloads.tsx";
import { AgentProgramDownload } from "./agent-program.tsx";
import {
	type Enrollment,
	manualCommands,
	packageCommands,
} from "./enroll-commands.ts";
import { EnrollmentProgress } from "./enrollment-progress.tsx";
import { PlatformTabs } from "./platform-tabs.tsx";
import {
	installProgram,
	reportFromService,
	reportOnce,
} from "./program-commands.ts";

/** The output of addDevice and of reissueEnrollmentToken. */
export interface IssuedToken {
	device: { id: string };
	enrollment_token_id: string;
	enrollment_token: string;
	enrollment_token_expires_at: string;
	server_url: string;
}

/** Says what is lost with the token. */
export const TOKEN_WORDS = {
	secrets: "token",
	consequence: "Nobody can show it again. You would have to issue another one.",
};

/**
 * Shows the token once, whether the device has enrolled, and the steps to take on the device. When
 * the token is used, only the result stays.
 */
export function EnrollmentSteps({
	issued,
	once,
}: {
	issued: IssuedToken;
	once: SaveOnce;
}) {
	const enrollment = {
		serverUrl: issued.server_url,
		token: issued.enrollment_token,
	};
	return (
		<Copied value={once.noteCopied}>
			<Stack gap="lg">
				{once.hasSecrets && (
					<div>
						<SecretOnce label="Enrollment token" value={enrollment.token} />
						<Text size="sm" c="dimmed" mt={6}>
							It works once, until{" "}
							<DateTime value={issued.enrollment_token_expires_at} />.
						</Text>
					</div>
				)}
				<EnrollmentProgress
					deviceId={issued.device.id}
					tokenId={issued.enrollment_token_id}
					onTaken={once.noteSaved}
					onOver={once.noteUsed}
				/>
				{once.hasSecrets && (
					<div>
						<Title order={2} mb="xs">
							On the device
						</Title>
						<PlatformTabs initial={thisPlatform()}>
							{(platform) => (
								<Stack>
									<Text size="sm">
										The agent sends heartbeats and checks the device.
										{platform === "WINDOWS" &&
											" To install it as a service, use a PowerShell that was started as administrator."}
										{platform === "FREEBSD" &&
											" The commands need sudo (pkg install sudo). As root, leave it out."}
									</Text>
									{isLocal(enrollment.serverUrl) && (
										<CopyField
											label={`On the computer that runs Assay${COMMAND === "assay" ? "" : ", in Assay's folder"}: report once`}
											value={reportFromService(platform, enrollment)}
										/>
									)}
									<AgentDownloads
										platform={platform}
										commandsOf={(chosen) =>
											packageCommands(chosen, enrollment.serverUrl)
										}
										otherwise={
											<AgentProgramDownload>
												{(program) => (
													<>
														<CopyField
															label="Command that installs the agent as a service"
															value={installProgram(
																program,
																platform,
																enrollment,
															)}
														/>
														<CopyField
															label="Command that reports once, without administrator rights"
															value={reportOnce(program, platform, enrollment)}
														/>
													</>
												)}
											</AgentProgramDownload>
										}
									/>
									<OtherWays platform={platform} enrollment={enrollment} />
								</Stack>
							)}
						</PlatformTabs>
					</div>
				)}
			</Stack>
		</Copied>
	);
}

/** Shows, folded, what people need only with another agent or without an agent. */
function OtherWays({
	platform,
	enrollment,
}: {
	platform: Platform;
	enrollment: Enrollment;
}) {
	return (
		<details>
			<Text component="summary" size="sm" style={{ cursor: "pointer" }}>
				Another agent, or none
			</Text>
			<Stack mt="sm">
				<Text size="sm">
					Other agents that use the Device Agent API, such as probo-agent, need
					the service address and the token.
				</Text>
				<LocalAddressNote address={enrollment.serverUrl} />
				<CopyField label="Service address" value={enrollment.serverUrl} />
				<Text size="sm">
					Or try it by hand, without an agent: this enrolls the device and sends
					one heartbeat and one posture report, with one check whose status is
					unknown. The device's key is then in <Code>$key</Code>; keep it,
					because it cannot be shown again.
					{platform === "FREEBSD" && " It needs curl (pkg install curl)."}
				</Text>
				<CopyField
					label={
						platform === "WINDOWS"
							? "Commands for PowerShell"
							: "Commands for a shell"
					}
					value={manualCommands[platform](enrollment)}
				/>
			</Stack>
		</details>
	);
}

/**
 * Guesses the platform from the reader's browser, because people often enroll their own machine
 * first.
 */
function thisPlatform(): Platform {
	const { userAgent } = navigator;
	if (/Windows/.test(userAgent)) return "WINDOWS";
	if (/Mac OS X|Macintosh/.test(userAgent)) return "DARWIN";
	return /FreeBSD/.test(userAgent) ? "FREEBSD" : "LINUX";
}
