"""Writes vectors.json: keys and masks by another implementation, the Python package cryptography, as the comments of
key.go, roll.go and mask.go describe them. Run it in this folder: python3 vectors.py > vectors.json"""

import base64
import hashlib
import json
import struct

from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

PLAN = hashlib.sha256(b"a plan").hexdigest()
NAMES = ["Aue", "Böhl", "Calw"]
MEASUREMENT = "counts by age and sex"
CELLS = 2050  # more than a block


def hkdf(secret, salt, info):
    return HKDF(algorithm=hashes.SHA256(), length=32, salt=salt, info=info).derive(secret)


def raw(public):
    return public.public_bytes(serialization.Encoding.Raw, serialization.PublicFormat.Raw)


def base64_of(data):
    return base64.b64encode(data).decode().rstrip("=")


def keys_of(secret):
    signing = Ed25519PrivateKey.from_private_bytes(hkdf(secret, None, b"dprelease holder key 1 sign"))
    agreeing = X25519PrivateKey.from_private_bytes(hkdf(secret, None, b"dprelease holder key 1 agree"))
    return signing, agreeing


def stream(secret, first, second, roll_hash):
    parts = ["dprelease holder mask 1", PLAN, roll_hash, first, second, MEASUREMENT]
    info = b"".join(struct.pack(">Q", len(p.encode())) + p.encode() for p in parts)
    key = hkdf(secret, b"dprelease holder mask 1", info)
    encryptor = Cipher(algorithms.AES(key), modes.CTR(bytes(16))).encryptor()
    return struct.unpack(f"<{CELLS}Q", encryptor.update(bytes(8 * CELLS)))


secrets = [bytes([i + 1] * 32) for i in range(3)]
keys = [keys_of(s) for s in secrets]
public = ["dprelease-holder-1 " + base64_of(raw(s.public_key()) + raw(a.public_key())) for s, a in keys]
roll = json.dumps({"format": "dprelease.roll/1", "plan_hash": PLAN,
                   "holders": [{"name": n, "key": k} for n, k in zip(NAMES, public)]},
                  indent=2, ensure_ascii=False) + "\n"
roll_hash = hashlib.sha256(roll.encode()).hexdigest()
masked = []
for i in range(3):
    values = [0] * CELLS
    for j in range(3):
        if i != j:
            secret = keys[i][1].exchange(keys[j][1].public_key())
            first, second = sorted([NAMES[i], NAMES[j]], key=lambda n: n.encode())
            sign = 1 if first == NAMES[i] else -1
            mask = stream(secret, first, second, roll_hash)
            values = [(v + sign * m) % 2**64 for v, m in zip(values, mask)]
    masked.append(hashlib.sha256(struct.pack(f"<{CELLS}Q", *values)).hexdigest())
print(json.dumps({
    "plan_hash": PLAN, "roll_hash": roll_hash, "measurement": MEASUREMENT, "cells": CELLS,
    "holders": [{"name": n, "secret": s.hex(), "public": k, "masked_zeros_sha256": m,
                 "roll_signature": keys[i][0].sign(b"dprelease holder roll 1\0" + roll.encode()).hex()}
                for i, (n, s, k, m) in enumerate(zip(NAMES, secrets, public, masked))],
}, indent=2, ensure_ascii=False))
