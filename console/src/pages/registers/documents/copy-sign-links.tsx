import { Button, Group, Stack, Text } from "@mantine/core";
import { useMutation, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import {
	BYTE_ORDER_MARK,
	toHarmless,
	writeLine,
} from "../../../../../src/csv/text.ts";
import { call, type OutputOf } from "../../../api.ts";
import { SecretOnce } from "../../../parts/copy-field.tsx";
import { ErrorState } from "../../../parts/error-state.tsx";
import { LocalAddressNote } from "../../../parts/local-address-note.tsx";
import { useReturnFocus } from "../../../parts/return-focus.ts";
import {
	SaveOnceButtons,
	SaveOnceModal,
	useSaveOnce,
} from "../../../parts/save-once.tsx";
import { DateTime } from "../../../parts/time.tsx";
import { forgetReadings, operationQuery } from "../../../queries.ts";
import { saveFile } from "../../../save-file.ts";
import type { Version } from "./statuses.ts";

type Made = OutputOf<"copySignLinks">;

/** Offers the links of all people who need one, if there are several. */
export function CopySignLinks({ version }: { version: Version }) {
	const [isOpen, setOpen] = useState(false);
	const { data: counts } = useQuery(
		operationQuery("countSigners", { document_version_id: version.id }),
	);
	const count = counts?.link ?? 0;
	return (
		<>
			{count > 1 && (
				<Button
					variant="default"
					size="compact-sm"
					onClick={() => setOpen(true)}
				>
					Copy all links to sign
				</Button>
			)}
			{isOpen && (
				<Links version={version} count={count} onClose={() => setOpen(false)} />
			)}
		</>
	);
}

function Links({
	version,
	count,
	onClose,
}: {
	version: Version;
	count: number;
	onClose: () => void;
}) {
	useReturnFocus();
	const copying = useMutation({
		mutationFn: () =>
			call("copySignLinks", { document_version_id: version.id }),
		onSuccess: () => forgetReadings(),
	});
	const made = copying.data;
	const once = useSaveOnce(
		made?.links.map(({ link }) => link),
		onClose,
	);
	return (
		<SaveOnceModal
			once={once}
			size="xl"
			title={
				made
					? `${made.links.length.toLocaleString()} links to sign`
					: `Make the links of ${count.toLocaleString()} people?`
			}
		>
			<Stack>
				{copying.isError && (
					<ErrorState error={copying.error} title="There are no links" />
				)}
				{made ? (
					<>
						<Text size="sm">
							Give each person their own link only. The links work until{" "}
							<DateTime value={made.expires_at} />, or until somebody makes new
							ones.
						</Text>
						{made.more > 0 && (
							<Text size="sm">
								{made.more.toLocaleString()} more people need a link. Save
								these, and then make the next ones.
							</Text>
						)}
						<LocalAddressNote address={made.links[0]?.link} />
						<SecretOnce
							label="Links to sign"
							value={made.links.map(
								({ signer_name: name, email, link }) =>
									`${name} <${email}>\n${link}`,
							)}
						/>
						<SaveOnceButtons
							secrets="links"
							consequence="Nobody can show them again. You would have to make other ones."
							once={once}
							save={{
								label: "Save the links as CSV",
								onClick: () => saveLinks(made, version),
							}}
						/>
					</>
				) : (
					<>
						<Text size="sm">
							These people have no account. Each gets a link with which they
							read and sign the version. Whoever has a link can sign, and you
							see all of them. The signatures therefore say that they came by a
							link that you made. They prove less than signatures by a mailed
							link or with an account.
						</Text>
						<Text size="sm">
							Links that were made before, one by one or together, stop working.
						</Text>
						<Group justify="flex-end">
							<Button
								variant="default"
								disabled={once.isWaiting}
								onClick={once.leave}
							>
								Cancel
							</Button>
							<Button
								loading={copying.isPending}
								onClick={() => copying.mutate()}
							>
								Make the links
							</Button>
						</Group>
					</>
				)}
			</Stack>
		</SaveOnceModal>
	);
}

function saveLinks({ links }: Made, { version_number: number }: Version): void {
	const lines = [
		["name", "email", "link"],
		...links.map(({ signer_name, email, link }) => [
			toHarmless(signer_name),
			toHarmless(email),
			link,
		]),
	];
	const text = BYTE_ORDER_MARK + lines.map(writeLine).join("");
	saveFile(
		`links-to-sign-version-${number}.csv`,
		new Blob([text], { type: "text/csv" }),
	);
}
