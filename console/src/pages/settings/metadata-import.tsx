import { Button, FileButton, Group, Textarea } from "@mantine/core";
import { IconFileUpload } from "@tabler/icons-react";
import { useMutation } from "@tanstack/react-query";
import { useRef, useState } from "react";
import { ApiError, asSentence, call, type OutputOf } from "../../api.ts";

/** Reads the metadata of a SAML provider from a file or from pasted XML. */
export function MetadataImport({
	organizationId,
	isNew,
	onRead,
}: {
	organizationId: string;
	isNew: boolean;
	onRead: (found: OutputOf<"readSamlMetadata">) => void;
}) {
	const [text, setText] = useState("");
	// Clears the input, so that the same file can be chosen again.
	const forget = useRef<() => void>(null);
	const reading = useMutation({
		mutationFn: (xml: string) =>
			call("readSamlMetadata", { organization_id: organizationId, xml }),
		onSuccess: onRead,
	});
	return (
		<>
			<Textarea
				label="Metadata of the provider"
				description={
					isNew
						? "Paste the XML, or choose the file. It fills in the fields below."
						: "Read it again when the provider has another certificate."
				}
				spellCheck={false}
				autosize
				minRows={2}
				maxRows={4}
				value={text}
				onChange={(event) => setText(event.currentTarget.value)}
				error={reading.error && wordsOf(reading.error)}
			/>
			<Group>
				<FileButton
					resetRef={forget}
					accept=".xml,text/xml,application/xml,application/samlmetadata+xml"
					onChange={async (file) => {
						if (!file) return;
						forget.current?.();
						const xml = await file.text();
						setText(xml);
						reading.mutate(xml);
					}}
				>
					{(button) => (
						<Button
							{...button}
							variant="default"
							leftSection={<IconFileUpload size={16} aria-hidden />}
						>
							Choose a file
						</Button>
					)}
				</FileButton>
				<Button
					variant="default"
					loading={reading.isPending}
					disabled={text.trim() === ""}
					onClick={() => reading.mutate(text)}
				>
					Read the metadata
				</Button>
			</Group>
		</>
	);
}

function wordsOf(error: unknown): string {
	return error instanceof ApiError
		? asSentence(error.fields[0]?.message ?? error.message)
		: "The file could not be read.";
}
