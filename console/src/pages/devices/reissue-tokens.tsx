import { Button, List, Stack, Text } from "@mantine/core";
import { useRef, useState } from "react";
import {
	BYTE_ORDER_MARK,
	toHarmless,
	writeLine,
} from "../../../../src/csv/text.ts";
import { MAX_DEVICES_OF_CALL } from "../../../../src/devices/fleet-limits.ts";
import { call, type OutputOf } from "../../api.ts";
import { BulkDialog } from "../../parts/bulk-dialog.tsx";
import { CopyField, SecretOnce } from "../../parts/copy-field.tsx";
import {
	countDevices,
	type Device,
} from "../../parts/devices/device-words.tsx";
import { LocalAddressNote } from "../../parts/local-address-note.tsx";
import { useReturnFocus } from "../../parts/return-focus.ts";
import {
	SaveOnceButtons,
	SaveOnceModal,
	useSaveOnce,
} from "../../parts/save-once.tsx";
import type { Selection } from "../../parts/selection.ts";
import { saveFile } from "../../save-file.ts";
import { DEFAULT_DAYS, TokenDays } from "./token-days.tsx";

type Issued = OutputOf<"reissueEnrollmentTokens">;

/** Gives each of the selected devices a new enrollment token, and shows the tokens once. */
export function ReissueTokens({
	organizationId,
	selection,
}: {
	organizationId: string;
	selection: Selection<Device>;
}) {
	const [isOpen, setOpen] = useState(false);
	const [days, setDays] = useState(DEFAULT_DAYS);
	/** The answers until now. Tokens are shown only once, so those before a failure count too. */
	const answers = useRef<Issued[]>([]);
	const [issued, setIssued] = useState<Issued | null>(null);
	const devices = selection.rows;
	const isOne = devices.length === 1;
	const waiting = devices.filter((device) => device.awaits_approval).length;
	const endAsking = () => {
		setOpen(false);
		const [first] = answers.current;
		if (!first) return;
		setIssued({
			...first,
			tokens: answers.current.flatMap(({ tokens }) => tokens),
		});
	};
	return (
		<>
			<Button
				size="compact-sm"
				variant="default"
				onClick={() => {
					answers.current = [];
					setOpen(true);
				}}
			>
				Reissue tokens …
			</Button>
			{isOpen && (
				<BulkDialog
					title={`Reissue the enrollment ${isOne ? "token" : "tokens"} of ${countDevices(devices.length)}?`}
					action={`Reissue the ${isOne ? "token" : "tokens"}`}
					done={(count) =>
						count === 1
							? "1 token reissued."
							: `${count.toLocaleString()} tokens reissued.`
					}
					selection={selection}
					parts={{
						size: MAX_DEVICES_OF_CALL,
						request: async (part) => {
							answers.current.push(
								await call("reissueEnrollmentTokens", {
									organization_id: organizationId,
									device_ids: part.map(({ id }) => id),
									enrollment_token_expires_in_days: days,
								}),
							);
						},
					}}
					onDone={endAsking}
					onClose={endAsking}
				>
					<List size="sm" spacing={4}>
						{isOne ? (
							<>
								<List.Item>Any earlier token stops working.</List.Item>
								<List.Item>
									An active device keeps reporting with its current key until
									the new token is used.
								</List.Item>
								<List.Item>
									A revoked device becomes pending again. Its history continues.
								</List.Item>
							</>
						) : (
							<>
								<List.Item>
									Each device gets a token of its own. Any earlier token stops
									working.
								</List.Item>
								<List.Item>
									Active devices keep reporting with their current key until
									their new token is used.
								</List.Item>
								<List.Item>
									Revoked devices become pending again. Their history continues.
								</List.Item>
							</>
						)}
						{waiting > 0 && (
							<List.Item>
								{waiting === 1
									? "1 device waits for approval and keeps waiting."
									: `${waiting.toLocaleString()} devices wait for approval and keep waiting.`}{" "}
								A new token approves nothing.
							</List.Item>
						)}
					</List>
					<TokenDays value={days} onChange={setDays} />
				</BulkDialog>
			)}
			{issued && (
				<Tokens
					issued={issued}
					onClose={() => {
						const done = new Set(issued.tokens.map((one) => one.device_id));
						setIssued(null);
						selection.set(
							devices.filter(({ id }) => done.has(id)),
							false,
						);
					}}
				/>
			)}
		</>
	);
}

function Tokens({ issued, onClose }: { issued: Issued; onClose: () => void }) {
	const { tokens, server_url: serverUrl } = issued;
	const isOne = tokens.length === 1;
	const once = useSaveOnce(
		tokens.map((token) => token.enrollment_token),
		onClose,
	);
	useReturnFocus();
	return (
		<SaveOnceModal
			once={once}
			size="xl"
			title={`Enroll ${countDevices(tokens.length)}`}
		>
			<Stack>
				<SecretOnce
					label={isOne ? "Enrollment token" : "Enrollment tokens"}
					value={tokens.map(
						(token) => `${nameOf(token)}  ${token.enrollment_token}`,
					)}
				/>
				<LocalAddressNote address={serverUrl} />
				<CopyField
					label={`On ${isOne ? "the" : "each"} device, with its token in a file`}
					value={`assay-agent install --server ${serverUrl} --enrollment-token-file token.txt`}
				/>
				<Text size="sm" c="dimmed">
					Add --force {isOne ? "if the device" : "on a device that"} is still
					enrolled.
				</Text>
				<SaveOnceButtons
					secrets={isOne ? "token" : "tokens"}
					areMany={!isOne}
					consequence={
						isOne
							? "Afterwards the device needs a new token."
							: "Afterwards each of these devices needs a new token."
					}
					once={once}
					save={{
						label: `Save the ${isOne ? "token" : "tokens"} as CSV`,
						onClick: () => saveTokens(issued),
					}}
				/>
			</Stack>
		</SaveOnceModal>
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
