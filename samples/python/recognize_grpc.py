#!/usr/bin/env python3
"""Recognizes a WAV file over gRPC with a Hlust service: whole, and as a stream.

    # once, in the folder of the project: makes Python code of the contract
    mkdir -p generated && protoc -I proto -I third_party/googleapis --python_out=generated \\
        --grpc_out=generated --plugin=protoc-gen-grpc=$(which grpc_python_plugin) \\
        $(find proto third_party/googleapis -name '*.proto')
    export HLUST_URL=http://127.0.0.1:8080 HLUST_TOKEN=... PYTHONPATH=generated
    python3 recognize_grpc.py talk.wav --language en-US

Needs grpcio (Debian: python3-grpcio, and for the first command protobuf-compiler-grpc and
libprotobuf-dev). With pip, grpcio-tools has the same as `python3 -m grpc_tools.protoc`.
"""

import argparse
import os
import sys
import wave
from urllib.parse import urlsplit

import grpc
from hlust.speech.v2beta1 import speech_pb2 as messages
from hlust.speech.v2beta1 import speech_pb2_grpc as services

TOKEN = os.environ.get("HLUST_TOKEN", "")


def open_channel(url):
    """Opens a channel to the service, which has gRPC on the same port as everything else."""
    parts = urlsplit(url)
    port = parts.port or (443 if parts.scheme == "https" else 80)
    address = f"{parts.hostname}:{port}"
    if parts.scheme == "https":
        return grpc.secure_channel(address, grpc.ssl_channel_credentials())
    return grpc.insecure_channel(address)


def main(path, language):
    with wave.open(path) as recording:
        rate = recording.getframerate()
        samples = recording.readframes(recording.getnframes())
    config = messages.RecognitionConfig(
        encoding=messages.RecognitionConfig.LINEAR16,
        sample_rate_hertz=rate,
        language_code=language,
        enable_word_time_offsets=True,
    )
    metadata = [("authorization", f"Bearer {TOKEN}")]
    with open_channel(os.environ.get("HLUST_URL", "http://127.0.0.1:8080")) as channel:
        speech = services.SpeechStub(channel)
        audio = messages.RecognitionAudio(content=samples)
        whole = messages.RecognizeRequest(config=config, audio=audio)
        for result in speech.Recognize(whole, metadata=metadata, timeout=60).results:
            best = result.alternatives[0]
            print("whole: ", best.transcript)
            for word in best.words:
                start = word.start_time.ToTimedelta().total_seconds()
                print(f"  {start:6.2f} s  {word.word}")

        def requests():
            streaming = messages.StreamingRecognitionConfig(config=config, interim_results=True)
            yield messages.StreamingRecognizeRequest(streaming_config=streaming)
            for at in range(0, len(samples), 3200):
                chunk = samples[at : at + 3200]
                yield messages.StreamingRecognizeRequest(audio_content=chunk)

        for response in speech.StreamingRecognize(requests(), metadata=metadata):
            for result in response.results:
                if result.is_final:
                    print("stream:", result.alternatives[0].transcript)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("recording")
    parser.add_argument("--language", required=True, help="such as is-IS or en-US")
    arguments = parser.parse_args()
    try:
        main(arguments.recording, arguments.language)
    except grpc.RpcError as error:
        sys.exit(f"{error.code().name}: {error.details()}")
