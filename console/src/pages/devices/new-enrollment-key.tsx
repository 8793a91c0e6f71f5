import { Code, Stack, Text, Title } from "@mantine/core";
import type { OutputOf } from "../../api.ts";
import { CopyField, SecretOnce } from "../../parts/copy-field.tsx";
import { TextLink } from "../../parts/links.tsx";
import { LocalAddressNote } from "../../parts/local-address-note.tsx";
import { type SaveOnce, SaveOnceButtons } from "../../parts/save-once.tsx";
import { DateTime } from "../../parts/time.tsx";
import { AgentDownloads } from "./agent-downloads.tsx";
import { AgentProgramDownload } from "./agent-program.tsx";
import { packageKeyCommands } from "./enroll-commands.ts";
import { PlatformTabs } from "./platform-tabs.tsx";
import { installProgramWithKey } from "./program-commands.ts";

/** Shows the secret once, with the commands that a rollout runs on each device. */
export function NewEnrollmentKey({
	made,
	once,
}: {
	made: OutputOf<"addEnrollmentKey">;
	once: SaveOnce;
}) {
	const { key, enrollment_key: secret, server_url: serverUrl } = made;
	return (
		<Stack gap="lg">
			<div>
				<SecretOnce label="Enrollment key" value={secret} />
				<Text size="sm" c="dimmed" mt={6}>
					It enrolls up to {key.max_devices.toLocaleString()}{" "}
					{key.max_devices === 1 ? "device" : "devices"}, until{" "}
					<DateTime value={key.expires_at} />.
				</Text>
			</div>
			<LocalAddressNote address={serverUrl} />
			<CopyField label="Service address" value={serverUrl} />
			<div>
				<Title order={2} mb="xs">
					On each device
				</Title>
				<Text size="sm" mb="sm">
					Your management system puts the key into a file that only
					administrators can read, and runs these commands with their rights.
					The{" "}
					<TextLink
						to="/help/$page"
						params={{ page: "rollout" }}
						target="_blank"
						underline="always"
						inherit
					>
						guide to a rollout
					</TextLink>{" "}
					shows how to make that file with Intune, Jamf, Ansible and others.
					Other agents that use the Device Agent API, such as probo-agent, take
					the key in place of a token.
				</Text>
				<PlatformTabs initial="LINUX">
					{(platform) => (
						<AgentDownloads
							platform={platform}
							commandsOf={(chosen) => packageKeyCommands(chosen, serverUrl)}
							noteOf={({ format }) => (
								<OwnerNote
									option={
										format === "msi"
											? "OWNEREMAIL=ADDRESS"
											: "--owner-email ADDRESS"
									}
								/>
							)}
							otherwise={
								<Stack gap="sm">
									<AgentProgramDownload>
										{(program) => (
											<>
												<CopyField
													label="Commands"
													value={installProgramWithKey(
														program,
														platform,
														serverUrl,
													)}
												/>
												<OwnerNote option="--owner-email ADDRESS" />
											</>
										)}
									</AgentProgramDownload>
								</Stack>
							}
						/>
					)}
				</PlatformTabs>
			</div>
			<SaveOnceButtons
				secrets="key"
				consequence="Nobody can show it again. Revoke it then, and make another one."
				once={once}
			/>
		</Stack>
	);
}

/** Says how to claim an owner. No copied command has one, because each device has another. */
function OwnerNote({ option }: { option: string }) {
	return (
		<Text size="sm">
			These commands work without an owner. To claim the owner of a device, add{" "}
			<Code>{option}</Code> after the key's file.
		</Text>
	);
}
