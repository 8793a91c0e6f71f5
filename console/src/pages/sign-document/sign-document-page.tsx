import { Alert, Button, Checkbox, Container, Stack, Text } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import type { ToSign } from "../../../../src/documents/sign-link.ts";
import { request } from "../../api.ts";
import { ErrorState } from "../../parts/error-state.tsx";
import { PageHeader } from "../../parts/page-header.tsx";
import { DateTime } from "../../parts/time.tsx";
import { Brand } from "../../shell/brand.tsx";
import { Rendered } from "../registers/documents/rendered.tsx";
import { WhatIsNew } from "../registers/documents/what-is-new.tsx";
import { Card } from "../sign-in/card.tsx";
import { useLinkToken } from "../sign-in/link.ts";

/**
 * Lets a person without an account read a version of a document and sign it. Only the button shows
 * the text, because programs that scan mails open links too.
 */
export function Page() {
	const token = useLinkToken();
	const opening = useMutation({
		mutationFn: () =>
			request<ToSign>("/api/sign-document/read", { body: { token } }),
	});
	if (opening.data) return <Version token={token} version={opening.data} />;
	return (
		<Card>
			<PageHeader title="A document to sign" />
			<Stack>
				<Text>You are asked to read a document and to sign it.</Text>
				{opening.isError && (
					<ErrorState error={opening.error} title="Not shown" />
				)}
				<Button loading={opening.isPending} onClick={() => opening.mutate()}>
					Show the document
				</Button>
			</Stack>
		</Card>
	);
}

function Version({ token, version }: { token: string; version: ToSign }) {
	const [hasRead, setRead] = useState(false);
	const signing = useMutation({
		mutationFn: () =>
			request<ToSign>("/api/sign-document/sign", {
				body: { token, content_hash: version.content_hash },
			}),
	});
	const signedAt = signing.data?.signed_at ?? version.signed_at;
	return (
		<Container size="md" py="xl" component="main">
			<Stack mb="lg">
				<Brand />
			</Stack>
			<PageHeader
				title={version.title}
				description={`${version.organization_name}, version ${version.version_number}`}
			/>
			<Stack>
				<WhatIsNew changelog={version.changelog} />
				<Rendered text={version.content} under={1} />
				{signedAt ? (
					<Alert variant="outline" color="green" title="Signed" role="status">
						{version.person_name}, <DateTime value={signedAt} />
					</Alert>
				) : (
					<Alert variant="outline" title="Your signature">
						<Stack align="flex-start">
							<Text size="sm">
								You sign as {version.person_name}. The time and your network
								address are kept with the signature.
								{version.copied_by_name &&
									` It also says that ${version.copied_by_name} passed this link on to you.`}
							</Text>
							<Checkbox
								label="I have read this version and follow it"
								checked={hasRead}
								onChange={({ currentTarget }) => setRead(currentTarget.checked)}
							/>
							{signing.isError && (
								<ErrorState error={signing.error} title="Not signed" />
							)}
							<Button
								disabled={!hasRead}
								loading={signing.isPending}
								onClick={() => signing.mutate()}
							>
								Sign
							</Button>
						</Stack>
					</Alert>
				)}
			</Stack>
		</Container>
	);
}
