#!/usr/bin/env python3
"""Transcribes a recording, or recognizes it live, with a Hlust service.

    export HLUST_URL=http://127.0.0.1:8080 HLUST_TOKEN=...
    python3 transcribe.py talk.mp3 --language en-US          # a recording of any kind and length
    python3 transcribe.py talk.wav --language en-US --live   # as if it were spoken now

Needs requests 2.28 and websockets 10 or later (Debian: python3-requests, python3-websockets).
"""

import argparse
import asyncio
import base64
import json
import os
import sys
import time
import wave

import requests
import websockets

URL = os.environ.get("HLUST_URL", "http://127.0.0.1:8080").rstrip("/")
TOKEN = os.environ.get("HLUST_TOKEN", "")


def call(method, path, body=None):
    """Calls the API. Ends the program with the service's message if it refuses."""
    headers = {"Authorization": f"Bearer {TOKEN}"}
    answer = requests.request(method, f"{URL}{path}", headers=headers, json=body, timeout=60)
    if answer.ok:
        return answer
    problem = answer.json().get("message", answer.reason)
    sys.exit(f"{method} {path}: {answer.status_code}: {problem}")


def transcribe(path, language):
    """Uploads a recording, waits for its job, and returns the text of the transcript."""
    upload = call("POST", "/v1alpha1/initupload", {"filename": os.path.basename(path)}).json()
    with open(path, "rb") as media:
        requests.put(upload["storageSignedUrl"], data=media, timeout=3600).raise_for_status()
    name = call(
        "POST",
        "/v1alpha1/transcriptjob:submit",
        {
            "useUri": False,
            "uri": upload["resourceName"],
            "metadata": {
                "fileType": "AUDIO",
                "languageCode": language,
                "subject": os.path.basename(path),
            },
            "enableAutomaticPunctuation": True,
        },
    ).json()["name"]
    while True:
        job = call("GET", f"/v1alpha1/{name}").json()
        print(f"{job.get('progressPercent', 0)} %", file=sys.stderr)
        if job["state"] != "PROCESSING":
            break
        time.sleep(1)
    if job["state"] != "SUCCESS":
        sys.exit(job.get("error", {}).get("message", job["state"]))
    return call("GET", f"/v1alpha1/{job['transcript']}:export?format=TEXT").text


async def listen(path, language):
    """Sends a WAV file as it would be spoken, and prints what is recognized."""
    with wave.open(path) as recording:
        rate = recording.getframerate()
        if recording.getsampwidth() != 2 or recording.getnchannels() != 1:
            sys.exit(f"{path}: live audio here is 16-bit samples of one channel")
        samples = recording.readframes(recording.getnframes())
    config = {"encoding": "LINEAR16", "sampleRateHertz": rate, "languageCode": language}
    address = URL.replace("http", "ws", 1) + "/v2beta1/speech:streamingrecognize"
    # The token is a subprotocol, as in browsers, so that this works with any WebSocket library.
    async with websockets.connect(address, subprotocols=["Bearer", TOKEN]) as socket:

        async def send():
            first = {"streamingConfig": {"config": config, "interimResults": True}}
            await socket.send(json.dumps(first))
            chunk = rate // 10 * 2
            for at in range(0, len(samples), chunk):
                audio = base64.b64encode(samples[at : at + chunk]).decode()
                await socket.send(json.dumps({"audioContent": audio}))
                await asyncio.sleep(0.1)
            # An empty message ends the audio. The last results follow.
            await socket.send(json.dumps({"audioContent": ""}))

        sending = asyncio.create_task(send())
        async for message in socket:
            for result in json.loads(message).get("result", {}).get("results", []):
                text = result["alternatives"][0]["transcript"]
                if result.get("isFinal"):
                    print(text)
                else:
                    print(f"... {text}", file=sys.stderr)
        await sending


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("recording")
    parser.add_argument("--language", required=True, help="such as is-IS or en-US")
    parser.add_argument("--live", action="store_true", help="recognize it as if it were spoken now")
    arguments = parser.parse_args()
    if not TOKEN:
        sys.exit("HLUST_TOKEN is not set: it is an API key of the service")
    if arguments.live:
        asyncio.run(listen(arguments.recording, arguments.language))
    else:
        print(transcribe(arguments.recording, arguments.language))
