import { Button, Group, List, Modal, Stack, Text } from "@mantine/core";
import { IconDownload } from "@tabler/icons-react";
import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import {
	BYTE_ORDER_MARK,
	toHarmless,
	writeLine,
} from "../../../../src/csv/text.ts";
import { call, type OutputOf } from "../../api.ts";
import { CopyField, SecretOnce } from "../../parts/copy-field.tsx";
import type { Device } from "../../parts/devices/device-words.tsx";
import { ErrorState } from "../../parts/error-state.tsx";
import { forgetReadings } from "../../queries.ts";
import { saveFile } from "../../save-file.ts";
import { DEFAULT_DAYS, TokenDays } from "./token-days.tsx";

type Issued = OutputOf<"reissueEnrollmentTokens">;

/** Gives each of the selected devices a new enrollment token, and shows the tokens once. */
export function ReissueTokens({
	organizationId,
	devices,
	onDone,
}: {
	organizationId: string;
	devices: readonly Device[];
	onDone: () => void;
}) {
	const [isOpen, setOpen] = useState(false);
	const [days, setDays] = useState(DEFAULT_DAYS);
	const reissuing = useMutation({
		mutationFn: () =>
			call("reissueEnrollmentTokens", {
				organization_id: organizationId,
				device_ids: devices.map(({ id }) => id),
				enrollment_token_expires_in_days: days,
			}),
		onSuccess: () => forgetReadings(),
	});
	const close = () => {
		setOpen(false);
		if (reissuing.isSuccess) onDone();
		reissuing.reset();
	};
	const count = devices.length === 1 ? "1 device" : `${devices.length} devices`;
	return (
		<>
			<Button size="compact-sm" variant="default" onClick={() => setOpen(true)}>
				Reissue tokens …
			</Button>
			<Modal
				opened={isOpen}
				onClose={close}
				size={reissuing.isSuccess ? "xl" : "md"}
				title={
					reissuing.isSuccess
						? `Enroll ${count}`
						: `Reissue the enrollment tokens of ${count}?`
				}
				closeButtonProps={{ "aria-label": "Close" }}
				// The tokens are shown only once, so a click outside the dialog must not close it.
				closeOnClickOutside={!reissuing.isSuccess}
				closeOnEscape={!reissuing.isSuccess}
			>
				{reissuing.isSuccess ? (
					<Tokens issued={reissuing.data} onClose={close} />
				) : (
					<Stack>
						{reissuing.isError && (
							<ErrorState
								error={reissuing.error}
								title="The tokens were not reissued"
							/>
						)}
						<List size="sm" spacing={4}>
							<List.Item>
								Each device gets a token of its own. Any earlier token stops
								working.
							</List.Item>
							<List.Item>
								Active devices keep reporting with their current key until their
								new token is used.
							</List.Item>
							<List.Item>
								Revoked devices become pending again. Their history continues.
							</List.Item>
						</List>
						<TokenDays value={days} onChange={setDays} />
						<Group justify="flex-end">
							<Button variant="default" onClick={close} data-autofocus>
								Cancel
							</Button>
							<Button
								loading={reissuing.isPending}
								onClick={() => reissuing.mutate()}
							>
								Reissue the tokens
							</Button>
						</Group>
					</Stack>
				)}
			</Modal>
		</>
	);
}

function Tokens({ issued, onClose }: { issued: Issued; onClose: () => void }) {
	const { tokens, server_url: serverUrl } = issued;
	return (
		<Stack>
			<SecretOnce
				label="Enrollment tokens"
				value={tokens.map(
					(token) => `${nameOf(token)}  ${token.enrollment_token}`,
				)}
			/>
			<CopyField
				label="On each device, with its token in a file"
				value={`assay-agent install --server ${serverUrl} --enrollment-token-file token.txt`}
			/>
			<Text size="sm" c="dimmed">
				Add --force on a device that is still enrolled.
			</Text>
			<Group justify="flex-end">
				<Button
					variant="default"
					leftSection={<IconDownload size={16} aria-hidden />}
					onClick={() => saveTokens(issued)}
				>
					Save the tokens as CSV
				</Button>
				<Button onClick={onClose}>Done</Button>
			</Group>
		</Stack>
	);
}

function saveTokens({ tokens, server_url: serverUrl }: Issued): void {
	const lines = [
		["device_id", "name", "serial_number", "enrollment_token", "server_url"],
		...tokens.map((token) => [
			token.device_id,
			toHarmless(nameOf(token)),
			toHarmless(token.serial_number ?? ""),
			token.enrollment_token,
			serverUrl,
		]),
	];
	const text = BYTE_ORDER_MARK + lines.map(writeLine).join("");
	saveFile("enrollment-tokens.csv", new Blob([text], { type: "text/csv" }));
}

const nameOf = ({ name, hostname, device_id: id }: Issued["tokens"][number]) =>
	name ?? hostname ?? id;
